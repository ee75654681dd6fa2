#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kopp/conditions.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/markers.hpp>

// The types whose CustomResourceDefinitions are compared with those that controller-gen makes from
// the Go types in controller_gen/types.

namespace crd_types {

// The type of kubebuilder's tutorial. The template of the Job is any object.

enum class ConcurrencyPolicy { kAllow, kForbid, kReplace };
KOPP_ENUM(ConcurrencyPolicy, kAllow, kForbid, kReplace)

struct ObjectReference {
  std::string kind;
  std::string ns;
  std::string name;
};
KOPP_FIELDS(ObjectReference, KOPP_FIELD(kind, Optional()), KOPP_FIELD(ns, "namespace", Optional()),
            KOPP_FIELD(name, Optional()))

struct CronJob {
  static constexpr kopp::Kind kKind{"example.com/v1", "CronJob", "cronjobs"};
  struct Spec {
    std::string schedule;
    std::optional<std::int64_t> startingDeadlineSeconds;
    ConcurrencyPolicy concurrencyPolicy = ConcurrencyPolicy::kAllow;
    std::optional<bool> suspend;
    kopp::RawJson jobTemplate;
    std::optional<int> successfulJobsHistoryLimit;
    std::optional<int> failedJobsHistoryLimit;
  };
  struct Status {
    std::vector<ObjectReference> active;
    std::optional<std::string> lastScheduleTime;
    std::vector<kopp::Condition> conditions;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(
    CronJob::Spec,
    KOPP_FIELD(schedule, MinLength(0),
               Doc("schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.")),
    KOPP_FIELD(startingDeadlineSeconds, Minimum(0),
               Doc("startingDeadlineSeconds defines in seconds for starting the job if it misses "
                   "scheduled\n"
                   "time for any reason.  Missed jobs executions will be counted as failed ones.")),
    KOPP_FIELD(concurrencyPolicy, Default("Allow")), suspend,
    KOPP_FIELD(jobTemplate, Required(), PreserveUnknownFields()),
    KOPP_FIELD(successfulJobsHistoryLimit, Minimum(0)),
    KOPP_FIELD(failedJobsHistoryLimit, Minimum(0)))
KOPP_FIELDS(CronJob::Status, KOPP_FIELD(active, ListType("atomic"), MinItems(1), MaxItems(10)),
            KOPP_FIELD(lastScheduleTime, Format("date-time")),
            KOPP_FIELD(conditions, ListMapKeys("type")))
KOPP_FIELDS(CronJob, metadata, spec, status)
KOPP_CRD(CronJob, StatusSubresource())

// A type like cert-manager's.

enum class RotationPolicy { kUnset, kNever, kAlways };
KOPP_ENUM(RotationPolicy, kNever, kAlways)

struct Pkcs12 {
  bool create = false;
  std::string profile;
  std::optional<std::string> password;
};

struct Certificate {
  static constexpr kopp::Kind kKind{"example.com/v1", "Certificate", "certificates"};
  struct Subject {
    std::vector<std::string> organizations;
    std::vector<std::string> countries;
    std::string serialNumber;
  };
  struct SecretTemplate {
    kopp::StringMap annotations;
    kopp::StringMap labels;
  };
  struct Keystores {
    std::optional<Pkcs12> pkcs12;
  };
  struct IssuerReference {
    std::string name;
    std::string kind;
    std::string group;
  };
  struct PrivateKey {
    std::optional<RotationPolicy> rotationPolicy;
    std::optional<std::string> encoding;
    std::optional<std::string> algorithm;
    std::optional<int> size;
  };
  struct Spec {
    std::optional<Subject> subject;
    std::string commonName;
    std::optional<std::string> duration;
    std::optional<int> renewBeforePercentage;
    std::vector<std::string> dnsNames;
    std::vector<std::string> ipAddresses;
    std::string secretName;
    std::optional<SecretTemplate> secretTemplate;
    std::optional<Keystores> keystores;
    IssuerReference issuerRef;
    bool isCA = false;
    std::vector<std::string> usages;
    std::optional<PrivateKey> privateKey;
    std::optional<int> revisionHistoryLimit;
  };
  struct Status {
    std::vector<kopp::Condition> conditions;
    std::optional<std::string> notAfter;
    std::optional<int> revision;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Certificate::Subject, KOPP_FIELD(organizations, ListType("atomic")),
            KOPP_FIELD(countries, ListType("atomic")), KOPP_FIELD(serialNumber, Optional()))
KOPP_FIELDS(Certificate::SecretTemplate, annotations, labels)
KOPP_FIELDS(Pkcs12, create,
            KOPP_FIELD(profile, Optional(), Enum("LegacyRC2", "LegacyDES", "Modern2023")), password)
KOPP_FIELDS(Certificate::Keystores, pkcs12)
KOPP_FIELDS(Certificate::IssuerReference, name, KOPP_FIELD(kind, Optional()),
            KOPP_FIELD(group, Optional()))
KOPP_FIELDS(Certificate::PrivateKey, rotationPolicy, KOPP_FIELD(encoding, Enum("PKCS1", "PKCS8")),
            KOPP_FIELD(algorithm, Enum("RSA", "ECDSA", "Ed25519")), size)
KOPP_FIELDS(Certificate::Spec, subject, KOPP_FIELD(commonName, Optional(), MaxLength(64)), duration,
            renewBeforePercentage, KOPP_FIELD(dnsNames, ListType("atomic")),
            KOPP_FIELD(ipAddresses, ListType("atomic"), Items(Format("ipv4"))),
            KOPP_FIELD(secretName, MinLength(1)), secretTemplate, keystores, issuerRef,
            KOPP_FIELD(isCA, Optional()),
            KOPP_FIELD(usages, ListType("atomic"),
                       Items(Enum("signing", "digital signature", "server auth", "client auth"))),
            privateKey, KOPP_FIELD(revisionHistoryLimit, Minimum(1)))
KOPP_FIELDS(Certificate::Status, KOPP_FIELD(conditions, ListMapKeys("type")),
            KOPP_FIELD(notAfter, Format("date-time")), revision)
KOPP_FIELDS(Certificate, metadata,
            KOPP_FIELD(spec, Optional(),
                       Validation("has(self.commonName) || has(self.dnsNames)",
                                  "a certificate needs a name")),
            status)
KOPP_CRD(Certificate, ShortNames("cert", "certs"), Categories("cert-manager"), StatusSubresource(),
         PrintColumn("Ready", "string", ".status.conditions[?(@.type == \"Ready\")].status"),
         PrintColumn("Secret", "string", ".spec.secretName"),
         PrintColumn("Issuer", "string", ".spec.issuerRef.name", {.priority = 1}),
         PrintColumn("Age", "date", ".metadata.creationTimestamp",
                     {.description = "The age of the object."}),
         SelectableField(".spec.secretName"))

// The type of the sample controller.

struct Foo {
  static constexpr kopp::Kind kKind{"example.com/v1", "Foo", "foos"};
  struct Spec {
    std::string deploymentName;
    std::optional<int> replicas;
  };
  struct Status {
    std::optional<int> availableReplicas;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Foo::Spec, deploymentName, KOPP_FIELD(replicas, Minimum(1), Maximum(10)))
KOPP_FIELDS(Foo::Status, availableReplicas)
KOPP_FIELDS(Foo, metadata, spec, status)
KOPP_CRD(Foo, StatusSubresource())

// The type of the Operator SDK's tutorial.

struct Memcached {
  static constexpr kopp::Kind kKind{"example.com/v1", "Memcached", "memcacheds"};
  struct Spec {
    std::optional<int> size;
    int containerPort = 11211;
  };
  struct Status {
    std::vector<kopp::Condition> conditions;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Memcached::Spec,
            KOPP_FIELD(size, Minimum(1), Maximum(5),
                       Doc("Size is the number of Memcached instances.")),
            KOPP_FIELD(containerPort, ExclusiveMinimum(0), ExclusiveMaximum(65536), Default(11211)))
KOPP_FIELDS(Memcached::Status, KOPP_FIELD(conditions, ListMapKeys("type")))
KOPP_FIELDS(Memcached, metadata, spec, status)
KOPP_CRD(Memcached, StatusSubresource())

// The type of kubebuilder's quick start.

struct Guestbook {
  static constexpr kopp::Kind kKind{"example.com/v1", "Guestbook", "guestbooks",
                                    kopp::Scope::kCluster};
  struct Spec {
    int size = 1;
    std::string configMapName;
    std::optional<std::string> alias;
  };
  struct Status {
    std::string active;
    std::vector<std::string> standby;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Guestbook::Spec,
            KOPP_FIELD(size, Doc("Quantity of instances."), Minimum(1), Maximum(10)),
            KOPP_FIELD(configMapName,
                       Doc("Name of the ConfigMap for GuestbookSpec's configuration."),
                       MaxLength(15), MinLength(1)),
            KOPP_FIELD(alias, Enum("Phone", "Address", "Name")))
KOPP_FIELDS(Guestbook::Status, active, standby)
KOPP_FIELDS(Guestbook, metadata, spec, status)
KOPP_CRD(Guestbook, StatusSubresource())

// CEL rules.

struct Tenant {
  static constexpr kopp::Kind kKind{"example.com/v1", "Tenant", "tenants", kopp::Scope::kCluster};
  struct Limits {
    std::int64_t min = 0;
    std::int64_t max = 0;
  };
  struct Spec {
    std::string owner;
    std::optional<int> seats;
    Limits limits;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Tenant::Limits, min, max)
KOPP_FIELDS(Tenant::Spec,
            KOPP_FIELD(owner, Immutable(), Pattern("^[a-z][a-z0-9-]*$"), MaxLength(20)),
            KOPP_FIELD(seats, Validation("self >= oldSelf", "",
                                         {.message_expression = "'seats must not shrink'"})),
            KOPP_FIELD(limits, Validation("self.min <= self.max", "min must not exceed max",
                                          {.reason = "FieldValueInvalid", .field_path = ".min"})))
KOPP_FIELDS(Tenant, metadata, spec)
KOPP_CRD(Tenant, ShortNames("tn"),
         Validation("self.metadata.name.size() < 30", "the name is too long"))

// The scale subresource, int-or-string.

struct WebApp {
  static constexpr kopp::Kind kKind{"example.com/v1", "WebApp", "webapps"};
  struct Spec {
    int replicas = 1;
    kopp::RawJson port;
    std::string url;
  };
  struct Status {
    int replicas = 0;
    std::string selector;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(WebApp::Spec, KOPP_FIELD(replicas, Default(1), Minimum(0)),
            KOPP_FIELD(port, IntOrString(), Default("http")),
            KOPP_FIELD(url, Optional(), Format("uri")))
KOPP_FIELDS(WebApp::Status, replicas, selector)
KOPP_FIELDS(WebApp, metadata, spec, status)
KOPP_CRD(WebApp, StatusSubresource(), Categories("all"), ShortNames("wa"),
         ScaleSubresource(".spec.replicas", ".status.replicas", ".status.selector"),
         PrintColumn("Replicas", "integer", ".spec.replicas", {.format = "int32"}),
         Deprecated("use v2"))

// Lists and maps.

struct Listener {
  int port = 0;
  std::string protocol = "TCP";
  std::optional<std::string> hostname;
};
KOPP_FIELDS(Listener, KOPP_FIELD(port, Minimum(1), Maximum(65535)),
            KOPP_FIELD(protocol, Default("TCP"), Enum("TCP", "UDP")), hostname)

struct Location {
  std::string region;
  std::string zone;
};
KOPP_FIELDS(Location, region, zone)

struct Gateway {
  static constexpr kopp::Kind kKind{"example.com/v1", "Gateway", "gateways"};
  struct Spec {
    std::vector<Listener> listeners;
    std::vector<std::string> addresses;
    kopp::StringMap selector;
    std::optional<Location> location;
    std::vector<std::vector<std::int64_t>> matrix;
    std::map<std::string, Listener> routes;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Gateway::Spec,
            KOPP_FIELD(listeners, Required(), ListMapKeys("port", "protocol"), MinItems(1),
                       MaxItems(64)),
            KOPP_FIELD(addresses, ListType("set"), Items(MaxLength(63), MinLength(1))),
            KOPP_FIELD(selector, MapType("atomic"), MaxProperties(8), MinProperties(1)),
            KOPP_FIELD(location, StructType("atomic")), matrix, routes)
KOPP_FIELDS(Gateway, metadata, spec)
KOPP_CRD(Gateway)

// Scalars and defaults.

struct Widget {
  static constexpr kopp::Kind kKind{"example.com/v1", "Widget", "widgets"};
  struct Options {
    bool enabled = true;
    std::string color = "blue";
  };
  struct Spec {
    int small = 0;
    std::int64_t big = 0;
    std::int64_t step = 0;
    double ratio = 0;
    bool on = false;
    Options options;
    std::vector<std::string> names;
    int factor = 1;
    std::optional<std::string> note;
    std::optional<std::string> title;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Widget::Options, KOPP_FIELD(enabled, Default(true)), KOPP_FIELD(color, Default("blue")))
KOPP_FIELDS(Widget::Spec, small, big, KOPP_FIELD(step, MultipleOf(5)),
            KOPP_FIELD(ratio, Maximum(1)), on, KOPP_FIELD(options, Default("{}")),
            KOPP_FIELD(names, Default(R"(["a", "b"])")), KOPP_FIELD(factor, Enum(1, 2, 4)),
            KOPP_FIELD(note, Nullable()), KOPP_FIELD(title, Required()))
KOPP_FIELDS(Widget, metadata, spec)
KOPP_CRD(Widget, Singular("gadget"))

// Fields without a fixed schema.

struct Plugin {
  static constexpr kopp::Kind kKind{"example.com/v1", "Plugin", "plugins"};
  struct Spec {
    kopp::RawJson pod;
    kopp::RawJson any;
    kopp::RawJson tree;
    Location open;
    kopp::ObjectMeta podMetadata;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Plugin::Spec, KOPP_FIELD(pod, "template", Required(), EmbeddedResource()), any,
            KOPP_FIELD(tree, Schemaless(), PreserveUnknownFields()),
            KOPP_FIELD(open, PreserveUnknownFields(), StructType("atomic")),
            KOPP_FIELD(podMetadata, Optional()))
KOPP_FIELDS(Plugin, metadata, spec)
KOPP_CRD(Plugin, Label("app", "plugin"), Annotation("example.com/owner", "team"))

}  // namespace crd_types
