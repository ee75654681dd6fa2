#include "objects/lost_fields.hpp"
#include "schema/parse.hpp"
#include "types.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/informer/json_fields.hpp>
#include <kopp/k8s/bytes.hpp>
#include <kopp/k8s/core/v1/pod.hpp>
#include <kopp/k8s/duration.hpp>
#include <kopp/k8s/int_or_string.hpp>
#include <kopp/k8s/list.hpp>
#include <kopp/k8s/optional.hpp>
#include <kopp/k8s/quantity.hpp>
#include <kopp/k8s/time.hpp>

namespace crd_kinds {

namespace v1beta1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Site", "sites"};
  struct Spec {
    std::string host;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, host)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("st"), Deprecated(), NotServed())
}  // namespace v1beta1

namespace v1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  struct Spec {
    std::vector<std::string> hosts;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, hosts)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"), StorageVersion())
}  // namespace v1

namespace v1alpha1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1alpha1", "Site", "sites"};
  struct Page {
    std::string path;
    std::optional<std::string> title;
  };
  struct Spec {
    std::vector<Page> pages;
    std::map<std::string, Page> named;
    kopp::RawJson extra;
    std::optional<Page> front;
    std::map<std::string, std::string> labels;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Page, path, title)
KOPP_FIELDS(Site::Spec, pages, named, extra, front, labels)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"))
}  // namespace v1alpha1

namespace v1alpha2 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1alpha2", "Site", "sites"};
  struct Page {
    std::string path;
  };
  struct Spec {
    std::vector<Page> pages;
    std::map<std::string, Page> named;
    std::optional<Page> extra;
    kopp::RawJson front;
    std::optional<Page> labels;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Page, path)
KOPP_FIELDS(Site::Spec, pages, named, extra, front, labels)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"), StorageVersion())
}  // namespace v1alpha2

namespace v1_view {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site, ShortNames("si"))
}  // namespace v1_view

namespace v2 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v2", "Site", "sites", kopp::Scope::kCluster};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site)
}  // namespace v2

struct Backup {
  static constexpr kopp::Kind kKind{"example.com/v1", "Backup", "backups"};
  struct Storage {
    std::string bucket;
    kopp::k8s::Quantity size;
  };
  struct Spec {
    kopp::k8s::Optional<Storage> storage;
    kopp::k8s::Quantity memory;
    kopp::k8s::IntOrString port;
    kopp::k8s::List<Storage> copies;
  };
  kopp::ObjectMeta metadata;
  kopp::k8s::Optional<Spec> spec;
};
KOPP_FIELDS(Backup::Storage, KOPP_FIELD(bucket, MinLength(3)), size)
KOPP_FIELDS(Backup::Spec, KOPP_FIELD(storage, StructType("atomic")),
            KOPP_FIELD(memory, Default("1Gi")), KOPP_FIELD(port, Default(80)),
            KOPP_FIELD(copies, ListType("map"), ListMapKeys("bucket"), Items(MinProperties(2))))
KOPP_FIELDS(Backup, metadata, spec)
KOPP_CRD(Backup)

struct WrongQuantity {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongQuantity", "wrongquantities"};
  kopp::ObjectMeta metadata;
  kopp::k8s::Quantity memory;
};
KOPP_FIELDS(WrongQuantity, metadata, KOPP_FIELD(memory, Default("1 GB")))
KOPP_CRD(WrongQuantity)

struct Sizes {
  static constexpr kopp::Kind kKind{"example.com/v1", "Sizes", "sizes"};
  struct Spec {
    kopp::k8s::Quantity memory;
    kopp::k8s::IntOrString port;
    std::optional<kopp::k8s::Time> start;
    kopp::k8s::Duration period;
    kopp::k8s::Bytes key;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Sizes::Spec, memory, port, start, period, key)
KOPP_FIELDS(Sizes, metadata, spec)
KOPP_CRD(Sizes)

struct Scheduling {
  static constexpr kopp::Kind kKind{"example.com/v1", "Scheduling", "schedulings"};
  struct Spec {
    kopp::k8s::Optional<kopp::k8s::core::v1::Affinity> affinity;
    kopp::RawJson raw;
    kopp::RawJson object;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Scheduling::Spec, affinity, raw, KOPP_FIELD(object, PreserveUnknownFields()))
KOPP_FIELDS(Scheduling, metadata, spec)
KOPP_CRD(Scheduling)

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
KOPP_FIELDS(Tree, name, children)
struct Forest {
  static constexpr kopp::Kind kKind{"example.com/v1", "Forest", "forests"};
  kopp::ObjectMeta metadata;
  Tree spec;
};
KOPP_FIELDS(Forest, metadata, spec)
KOPP_CRD(Forest)

struct WrongDefault {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongDefault", "wrongdefaults"};
  struct Spec {
    int replicas = 0;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(WrongDefault::Spec, KOPP_FIELD(replicas, Minimum(1), Default(0)))
KOPP_FIELDS(WrongDefault, metadata, spec)
KOPP_CRD(WrongDefault)

struct WrongKeys {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongKeys", "wrongkeys"};
  struct Spec {
    std::vector<crd_types::Location> places;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(WrongKeys::Spec, KOPP_FIELD(places, ListMapKeys("street")))
KOPP_FIELDS(WrongKeys, metadata, spec)
KOPP_CRD(WrongKeys)

struct Weight {
  int grams = 0;
};
inline void KoppDecode(std::string_view /*json*/, Weight& /*weight*/) {}
inline std::string KoppEncode(const Weight& weight) { return std::to_string(weight.grams); }
inline bool KoppIsEmpty(const Weight& weight) { return weight.grams == 0; }
constexpr std::string_view KoppSchema(const Weight* /*type*/) {
  return R"({"type": "integer", "description": "grams"})";
}

struct Scalars {
  static constexpr kopp::Kind kKind{"example.com/v1", "Scalars", "scalars"};
  kopp::ObjectMeta metadata;
  std::int8_t tiny = 0;
  std::uint16_t port = 0;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
  float ratio = 0;
  Weight weight;
};
KOPP_FIELDS(Scalars, metadata, tiny, port, count, bytes, ratio, weight)
KOPP_CRD(Scalars)

struct Limits {
  static constexpr kopp::Kind kKind{"example.com/v1", "Limits", "limits"};
  kopp::ObjectMeta metadata;
  std::int64_t count = 0;
  double ratio = 0;
  std::map<std::string, kopp::RawJson> others;
};
KOPP_FIELDS(Limits, metadata, KOPP_FIELD(count, Minimum(-1e300), Maximum(18446744073709551615U)),
            KOPP_FIELD(ratio, Default(1e100)), KOPP_FIELD(others, kopp::kOtherFields))
KOPP_CRD(Limits)

}  // namespace crd_kinds

namespace {

using kopp::CustomResourceDefinitionOf;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename... Versions>
std::string ErrorOfDefinition() {
  try {
    return "valid: " + CustomResourceDefinitionOf<Versions...>().name();
  } catch (const std::logic_error& error) {
    return error.what();
  }
}

TEST(CrdTest, YamlHasTheSchemaOfTheStructAndTheMarkersOfTheKind) {
  EXPECT_EQ(CustomResourceDefinitionOf<crd_types::Foo>().ToYaml(),
            R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  group: example.com
  names:
    kind: Foo
    listKind: FooList
    plural: foos
    singular: foo
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          apiVersion:
            description: |-
              APIVersion defines the versioned schema of this representation of an object.
              Servers should convert recognized schemas to the latest internal value, and
              may reject unrecognized values.
              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
            type: string
          kind:
            description: |-
              Kind is a string value representing the REST resource this object represents.
              Servers may infer this from the endpoint the client submits requests to.
              Cannot be updated.
              In CamelCase.
              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
            type: string
          metadata:
            type: object
          spec:
            properties:
              deploymentName:
                type: string
              replicas:
                format: int32
                maximum: 10
                minimum: 1
                type: integer
            required:
            - deploymentName
            type: object
          status:
            properties:
              availableReplicas:
                format: int32
                type: integer
            type: object
        required:
        - spec
        type: object
    served: true
    storage: true
    subresources:
      status: {}
)");
}

template <typename T>
void ExpectYamlIsReadBack() {
  const auto definition = CustomResourceDefinitionOf<T>();
  EXPECT_EQ(kopp::schema::ParseJsonOrYaml(definition.ToYaml(), "yaml"), definition.object());
  EXPECT_EQ(json::parse(definition.ToJson()), definition.object());
}

TEST(CrdTest, YamlOfEachTypeIsReadBackUnchanged) {
  ExpectYamlIsReadBack<crd_types::CronJob>();
  ExpectYamlIsReadBack<crd_types::Certificate>();
  ExpectYamlIsReadBack<crd_types::Tenant>();
  ExpectYamlIsReadBack<crd_types::WebApp>();
  ExpectYamlIsReadBack<crd_types::Gateway>();
  ExpectYamlIsReadBack<crd_types::Widget>();
  ExpectYamlIsReadBack<crd_types::Plugin>();
}

TEST(CrdTest, UnsignedAndNarrowIntegersHaveTheirLimits) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scalars>();
  const json& properties =
      definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
  EXPECT_EQ(properties["tiny"],
            json({{"type", "integer"}, {"format", "int32"}, {"minimum", -128}, {"maximum", 127}}));
  EXPECT_EQ(properties["port"],
            json({{"type", "integer"}, {"format", "int32"}, {"minimum", 0}, {"maximum", 65535}}));
  EXPECT_EQ(
      properties["count"],
      json({{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"maximum", 4294967295}}));
  EXPECT_EQ(properties["bytes"], json({{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}));
  EXPECT_EQ(properties["ratio"], json({{"type", "number"}}));
}

TEST(CrdTest, MarkersTakeNumbersBeyond64Bits) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Limits>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const json& properties = schema["properties"];
  EXPECT_EQ(properties["count"]["minimum"], -1e300);
  EXPECT_EQ(properties["count"]["maximum"], 18446744073709551616.0);
  EXPECT_EQ(properties["ratio"]["default"], 1e100);
}

TEST(CrdTest, AMemberForOtherFieldsPreservesThem) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Limits>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_EQ(schema["x-kubernetes-preserve-unknown-fields"], true);
  EXPECT_FALSE(schema["properties"].contains(kopp::kOtherFields));
}

TEST(CrdTest, ATypeGivesItsOwnSchemaWithKoppSchema) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scalars>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_EQ(schema["properties"]["weight"], json({{"type", "integer"}, {"description", "grams"}}));
}

TEST(CrdTest, VersionsOfOneKindAreMerged) {
  const auto definition =
      CustomResourceDefinitionOf<crd_kinds::v1::Site, crd_kinds::v1beta1::Site>();
  const json& spec = definition.object()["spec"];
  EXPECT_EQ(definition.name(), "sites.example.com");
  EXPECT_EQ(spec["names"]["shortNames"], json({"si", "st"}));
  ASSERT_EQ(spec["versions"].size(), 2U);
  EXPECT_EQ(spec["versions"][0]["name"], "v1");
  EXPECT_EQ(spec["versions"][0]["storage"], true);
  EXPECT_EQ(spec["versions"][1]["name"], "v1beta1");
  EXPECT_EQ(spec["versions"][1]["storage"], false);
  EXPECT_EQ(spec["versions"][1]["deprecated"], true);
  EXPECT_EQ(spec["versions"][0]["served"], true);
  EXPECT_EQ(spec["versions"][1]["served"], false);
  const char* properties = "/schema/openAPIV3Schema/properties/spec/properties";
  EXPECT_TRUE(spec["versions"][0].at(json::json_pointer(properties)).contains("hosts"));
  EXPECT_TRUE(spec["versions"][1].at(json::json_pointer(properties)).contains("host"));
}

TEST(CrdTest, FieldsThatVersionsDeleteAreFoundAtEachDepth) {
  EXPECT_THAT(
      kopp::DescribeLostFields(
          CustomResourceDefinitionOf<crd_kinds::v1alpha1::Site, crd_kinds::v1alpha2::Site>()),
      ElementsAre("Site (sites.example.com): a write through v1alpha1 deletes fields of v1alpha2: "
                  "spec.front.*",
                  "Site (sites.example.com): the storage version v1alpha2 does not store fields of "
                  "v1alpha1: spec.extra.*, spec.labels.*, spec.named.*.title, "
                  "spec.pages[*].title"));
}

TEST(CrdTest, AVersionThatIsNotServedDeletesNoFields) {
  EXPECT_THAT(kopp::DescribeLostFields(
                  CustomResourceDefinitionOf<crd_kinds::v1::Site, crd_kinds::v1beta1::Site>()),
              testing::IsEmpty());
}

TEST(CrdTest, OneVersionIsTheStorageVersionWithoutAMarker) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::v1beta1::Site>();
  EXPECT_EQ(definition.object()["spec"]["versions"][0]["storage"], true);
}

TEST(CrdTest, SeveralVersionsWithoutStorageVersionAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1beta1::Site, crd_kinds::v1beta1::Site>()),
              HasSubstr("valid"));  // the same version twice counts once
  EXPECT_THAT((ErrorOfDefinition<crd_types::Foo, crd_kinds::Scalars>()),
              HasSubstr("needs versions of one kind"));
}

TEST(CrdTest, VersionsThatDisagreeAboutTheScopeAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1::Site, crd_kinds::v2::Site>()),
              HasSubstr("sites.example.com is not valid: its versions disagree"));
}

TEST(CrdTest, ValueTypesOfKubernetesHaveTheSchemaOfControllerGen) {
  const auto definition = kopp::CustomResourceDefinitionOf<crd_kinds::Sizes>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  const json any_of = json::parse(R"([{"type":"integer"},{"type":"string"}])");
  EXPECT_EQ(properties["memory"]["anyOf"], any_of);
  EXPECT_EQ(properties["memory"]["x-kubernetes-int-or-string"], true);
  EXPECT_THAT(properties["memory"]["pattern"].get<std::string>(), HasSubstr("[KMGTPE]i"));
  EXPECT_EQ(properties["port"], json({{"anyOf", any_of}, {"x-kubernetes-int-or-string", true}}));
  EXPECT_EQ(properties["start"], json({{"type", "string"}, {"format", "date-time"}}));
  EXPECT_EQ(properties["period"], json({{"type", "string"}}));
  EXPECT_EQ(properties["key"], json({{"type", "string"}, {"format", "byte"}}));
}

TEST(CrdTest, AnOptionalOfKubernetesHasTheSchemaOfItsStructAndIsNotRequired) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_FALSE(schema.contains("required"));
  const json& spec = schema["properties"]["spec"];
  EXPECT_EQ(spec["type"], "object");
  EXPECT_FALSE(spec.contains("required"));
  EXPECT_EQ(spec["properties"]["storage"]["properties"]["bucket"],
            json({{"type", "string"}, {"minLength", 3}}));
  EXPECT_EQ(spec["properties"]["storage"]["required"], json({"bucket", "size"}));
  EXPECT_EQ(spec["properties"]["storage"]["x-kubernetes-map-type"], "atomic");
}

TEST(CrdTest, AStructOfKubernetesAndRawJsonWithUnknownFieldsAreAnyObject) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scheduling>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  const json any{{"x-kubernetes-preserve-unknown-fields", true}};
  const json any_object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  EXPECT_EQ(properties["affinity"], any_object);
  EXPECT_EQ(properties["raw"], any);
  EXPECT_EQ(properties["object"], any_object);
}

TEST(CrdTest, AListOfKubernetesHasTheSchemaAndTheMarkersOfAList) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& copies = definition.object().at(json::json_pointer(
      "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/copies"));
  EXPECT_EQ(copies["type"], "array");
  EXPECT_EQ(copies["x-kubernetes-list-type"], "map");
  EXPECT_EQ(copies["x-kubernetes-list-map-keys"], json({"bucket"}));
  EXPECT_EQ(copies["items"]["minProperties"], 2);
  EXPECT_EQ(copies["items"]["required"], json({"bucket", "size"}));
}

TEST(CrdTest, AQuantityAndAnIntOrStringHaveADefault) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  EXPECT_EQ(properties["memory"]["default"], "1Gi");
  EXPECT_EQ(properties["port"]["default"], 80);
}

TEST(CrdTest, ADefaultThatIsNoQuantityIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongQuantity>(),
              HasSubstr("properties[memory].default: Invalid value: \"1 GB\": "));
}

TEST(CrdTest, TwoTypesOfOneVersionAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1::Site, crd_kinds::v1_view::Site>()),
              HasSubstr("sites.example.com is not valid: two types describe its version v1"));
}

TEST(CrdTest, ATypeThatContainsItselfIsRefused) {
  EXPECT_EQ(ErrorOfDefinition<crd_kinds::Forest>(),
            "the type of the field spec.children[*] contains itself, which the schema of a "
            "CustomResourceDefinition cannot express: give the field the markers Schemaless() and "
            "PreserveUnknownFields()");
}

TEST(CrdTest, ADefaultThatViolatesTheSchemaIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongDefault>(),
              HasSubstr("wrongdefaults.example.com is not valid: version v1: "
                        "openAPIV3Schema.properties[spec].properties[replicas].default: Invalid "
                        "value: 0: "));
}

TEST(CrdTest, AListMapKeyThatIsNoFieldIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongKeys>(),
              HasSubstr("properties[places].x-kubernetes-list-map-keys: Invalid value: "
                        "[\"street\"]: entries must all be names of item properties"));
}

}  // namespace
