#include "conformance.hpp"
#include "explanations.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// An object of some kind that is not valid.
struct Bad {
  std::string test{};
  std::string group_version{};
  std::string plural{};
  json object{};
  std::vector<std::string> causes{};

  friend void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.test; }
};

class ValidationTest : public ConformanceTest, public ::testing::WithParamInterface<Bad> {};

TEST_P(ValidationTest, IsInvalid) {
  const auto& [test, group_version, plural, sent, causes] = GetParam();
  json object = AConfigMap("a");
  object.update(sent);
  const Answer made =
      Post(group_version == "v1" ? Path(plural) : Path(group_version, plural), object);

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.reason(), "Invalid");
  EXPECT_THAT(Causes(made), ElementsAreArray(causes));
}

json Data(const std::string& key) { return {{"data", {{key, "eA=="}}}}; }
std::string BadKey(const std::string& key, const std::string& why) {
  return "FieldValueInvalid data[" + key + "]: Invalid value: \"" + key + "\": " + why;
}
json Ports(const std::string& ports) { return {{"spec", {{"ports", json::parse(ports)}}}}; }
json Job(const json& spec) {
  json pod = APod("a")["spec"];
  pod["restartPolicy"] = "Never";
  json job{{"template", {{"spec", pod}}}};
  job.merge_patch(spec);
  return {{"spec", job}};
}
json Cron(const json& spec) {
  json cron{{"schedule", "@hourly"}, {"jobTemplate", Job(json::object())}};
  cron.merge_patch(spec);
  return {{"spec", cron}};
}
const std::string job_policy =
    "FieldValueRequired spec.template.spec.restartPolicy: Required value: valid values: "
    "\"OnFailure\", \"Never\"";

std::string Unreachable(int address, const std::string& ip, const std::string& why) {
  return "FieldValueInvalid subsets[0].addresses[" + std::to_string(address) +
         "].ip: Invalid value: \"" + ip + "\": may not be " + why;
}

const Bad all_bad[] = {
    {"ConfigMapKeyWithASpace", "v1", "configmaps", Data("a b"), {BadKey("a b", no_config_key)}},
    {"ConfigMapKeyOfNothing", "v1", "configmaps", Data(""), {BadKey("", no_config_key)}},
    {"ConfigMapKeyOfTwoDots", "v1", "configmaps", Data(".."), {BadKey("..", "must not be '..'")}},
    {"ConfigMapKeyThatBeginsWithTwoDots",
     "v1",
     "configmaps",
     Data("..x"),
     {BadKey("..x", "must not start with '..'")}},
    {"ConfigMapKeyTwice",
     "v1",
     "configmaps",
     R"({"data": {"a": "x"}, "binaryData": {"a": "eA=="}})"_json,
     {BadKey("a", "duplicate of key present in binaryData")}},
    {"ConfigMapOfMoreThan1Mib",
     "v1",
     "configmaps",
     {{"data", {{"a", std::string((1 << 20) + 1, 'x')}}}},
     {"FieldValueTooLong []: Too long: may not be more than 1048576 bytes"}},
    {"SecretKeyWithASpace", "v1", "secrets", Data("a b"), {BadKey("a b", no_config_key)}},
    {"SecretOfMoreThan1Mib",
     "v1",
     "secrets",
     {{"stringData", {{"a", std::string((1 << 20) + 1, 'x')}}}},
     {"FieldValueTooLong data: Too long: may not be more than 1048576 bytes"}},
    {"TlsSecretWithoutItsKeys",
     "v1",
     "secrets",
     {{"type", "kubernetes.io/tls"}},
     {"FieldValueRequired data[tls.crt]: Required value",
      "FieldValueRequired data[tls.key]: Required value"}},
    {"ServiceWithoutPorts",
     "v1",
     "services",
     Ports("[]"),
     {"FieldValueRequired spec.ports: Required value"}},
    {"ServiceWithAPortThatIsTooLarge",
     "v1",
     "services",
     Ports(R"([{"port": 70000, "targetPort": 80}])"),
     {"FieldValueInvalid spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, "
      "inclusive"}},
    {"ServiceWithPortsWithoutNames",
     "v1",
     "services",
     Ports(R"([{"port": 80}, {"port": 81}])"),
     {"FieldValueRequired spec.ports[0].name: Required value",
      "FieldValueRequired spec.ports[1].name: Required value"}},
    {"ServiceWithPortsOfOneName",
     "v1",
     "services",
     Ports(R"([{"port": 80, "name": "a"}, {"port": 81, "name": "a"}])"),
     {"FieldValueDuplicate spec.ports[1].name: Duplicate value: \"a\""}},
    {"ServiceOfAnUnknownType",
     "v1",
     "services",
     R"({"spec": {"type": "Odd", "ports": [{"port": 80}]}})"_json,
     {R"(FieldValueNotSupported spec.type: Unsupported value: "Odd": supported values: )"
      R"("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")"}},
    {"ServiceOfAnExternalNameWithoutIt",
     "v1",
     "services",
     R"({"spec": {"type": "ExternalName"}})"_json,
     {"FieldValueRequired spec.externalName: Required value"}},
    {"JobWithoutARestartPolicy",
     "batch/v1",
     "jobs",
     Job(R"({"template": {"spec": {"restartPolicy": null}}})"_json),
     {job_policy}},
    {"JobThatRestartsAlways",
     "batch/v1",
     "jobs",
     Job(R"({"template": {"spec": {"restartPolicy": "Always"}}})"_json),
     {job_policy}},
    {"JobOfNegativeParallelism",
     "batch/v1",
     "jobs",
     Job({{"parallelism", -1}}),
     {Negative("spec.parallelism")}},
    {"JobOfANegativeLimit",
     "batch/v1",
     "jobs",
     Job({{"backoffLimit", -1}}),
     {Negative("spec.backoffLimit")}},
    {"CronJobWithoutASchedule",
     "batch/v1",
     "cronjobs",
     Cron({{"schedule", nullptr}}),
     {"FieldValueRequired spec.schedule: Required value"}},
    {"CronJobWithABadSchedule",
     "batch/v1",
     "cronjobs",
     Cron({{"schedule", "bad"}}),
     {"FieldValueInvalid spec.schedule: Invalid value: \"bad\": expected exactly 5 fields, found "
      "1: [bad]"}},
    {"CronJobOfAnUnknownPolicy",
     "batch/v1",
     "cronjobs",
     Cron({{"concurrencyPolicy", "Odd"}}),
     {R"(FieldValueNotSupported spec.concurrencyPolicy: Unsupported value: "Odd": supported )"
      R"(values: "Allow", "Forbid", "Replace")"}},
    {"LeaseOfNoTime",
     "coordination.k8s.io/v1",
     "leases",
     R"({"spec": {"leaseDurationSeconds": 0}})"_json,
     {"FieldValueInvalid spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"}},
    {"LeaseOfNegativeTransitions",
     "coordination.k8s.io/v1",
     "leases",
     R"({"spec": {"leaseTransitions": -1}})"_json,
     {Negative("spec.leaseTransitions")}},
    {"RoleWithARuleOfNothing",
     "rbac.authorization.k8s.io/v1",
     "roles",
     R"({"rules": [{"resources": ["pods"]}]})"_json,
     {"FieldValueRequired rules[0].verbs: Required value: verbs must contain at least one value",
      "FieldValueRequired rules[0].apiGroups: Required value: resource rules must supply at least "
      "one api group"}},
    {"RoleBindingOfNothing",
     "rbac.authorization.k8s.io/v1",
     "rolebindings",
     R"({"roleRef": {"kind": "Nope"}, "subjects": [{"kind": "X", "name": "s"}]})"_json,
     {R"(FieldValueNotSupported roleRef.kind: Unsupported value: "Nope": supported values: )"
      R"("Role", "ClusterRole")",
      "FieldValueRequired roleRef.name: Required value",
      R"(FieldValueNotSupported subjects[0].kind: Unsupported value: "X": supported values: )"
      R"("ServiceAccount", "User", "Group")"}},
    {"IngressPathWithoutAType",
     "networking.k8s.io/v1",
     "ingresses",
     R"({"spec": {"rules": [{"http": {"paths": [
          {"path": "/", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
        ]}}]}})"_json,
     {"FieldValueRequired spec.rules[0].http.paths[0].pathType: Required value: pathType must be "
      "specified"}},
    {"BudgetOfANegativeNumber",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"spec": {"minAvailable": -1}})"_json,
     {Negative("spec.minAvailable")}},
    {"BudgetOfMoreThanAll",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"spec": {"minAvailable": "150%"}})"_json,
     {"FieldValueInvalid spec.minAvailable: Invalid value: \"150%\": must not be greater than "
      "100%"}},
    {"ClaimOfLessThanNothing",
     "v1",
     "persistentvolumeclaims",
     R"({"spec": {"accessModes": ["ReadWriteOnce"],
                  "resources": {"requests": {"storage": "-1Gi"}}}})"_json,
     {"FieldValueInvalid spec.resources[storage]: Invalid value: \"-1Gi\": must be greater than "
      "zero"}},
    {"EndpointsOfNoAddressAndPort",
     "v1",
     "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "1.2.3"}], "ports": [{"port": 0}]}]})"_json,
     {"FieldValueInvalid subsets[0].addresses[0].ip: Invalid value: \"1.2.3\": must be a valid IP "
      "address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
      "FieldValueInvalid subsets[0].addresses[0].ip: Invalid value: \"1.2.3\": must be a valid IP "
      "address",
      "FieldValueInvalid subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, "
      "inclusive"}},
    {"EndpointsThatNobodyReaches",
     "v1",
     "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "127.0.0.1", "hostname": "A_", "nodeName": "B_"},
                                    {"ip": "0.0.0.0"}, {"ip": "169.254.0.1"}, {"ip": "224.0.0.1"},
                                    {"ip": "::"}, {"ip": "::1"}, {"ip": "fe80::1"},
                                    {"ip": "ff02::1"}],
                      "ports": [{"port": 1, "appProtocol": "x y"}]}]})"_json,
     {"FieldValueInvalid subsets[0].addresses[0].hostname: Invalid value: \"A_\": " + no_label,
      "FieldValueInvalid subsets[0].addresses[0].nodeName: Invalid value: \"B_\": " + no_subdomain,
      Unreachable(0, "127.0.0.1", "in the loopback range (127.0.0.0/8, ::1/128)"),
      Unreachable(1, "0.0.0.0", "unspecified (0.0.0.0)"),
      Unreachable(2, "169.254.0.1", "in the link-local range (169.254.0.0/16, fe80::/10)"),
      Unreachable(3, "224.0.0.1", "in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
      Unreachable(4, "::", "unspecified (::)"),
      Unreachable(5, "::1", "in the loopback range (127.0.0.0/8, ::1/128)"),
      Unreachable(6, "fe80::1", "in the link-local range (169.254.0.0/16, fe80::/10)"),
      Unreachable(7, "ff02::1", "in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
      "FieldValueInvalid subsets[0].ports[0].appProtocol: Invalid value: \"x y\": name part " +
          no_qualified_name}},
    {"EndpointsOfPortsWithoutNames",
     "v1",
     "endpoints",
     R"({"subsets": [{"ports": [{"port": 1, "name": "A_"}, {"port": 2, "protocol": "X"}]}]})"_json,
     {"FieldValueRequired subsets[0]: Required value: must specify `addresses` or "
      "`notReadyAddresses`",
      "FieldValueInvalid subsets[0].ports[0].name: Invalid value: \"A_\": " + no_label,
      "FieldValueRequired subsets[0].ports[1].name: Required value",
      "FieldValueNotSupported subsets[0].ports[1].protocol: Unsupported value: \"X\": supported "
      "values: \"SCTP\", \"TCP\", \"UDP\""}},
    {"EventOfAnotherNamespace",
     "v1",
     "events",
     R"({"involvedObject": {"namespace": "other"}})"_json,
     {"FieldValueInvalid involvedObject.namespace: Invalid value: \"other\": does not match "
      "event.namespace"}},
};
INSTANTIATE_TEST_SUITE_P(, ValidationTest, ::testing::ValuesIn(all_bad),
                         [](const auto& bad) { return bad.param.test; });

class NodeTest : public ConformanceTest {};

TEST_F(NodeTest, ItsTaintsAreChecked) {
  const json taints = R"([{"key": "a", "effect": "Foo"}, {"key": "b"},
                          {"key": "d", "effect": "NoSchedule"},
                          {"key": "d", "value": "c c", "effect": "NoSchedule"}])"_json;
  const Answer made = Post("/api/v1/nodes",
                           {{"metadata", {{"name", Unique("n")}}}, {"spec", {{"taints", taints}}}});

  EXPECT_THAT(
      Causes(made),
      ElementsAre(
          "FieldValueNotSupported metadata.taints[0].effect: Unsupported value: \"Foo\": supported "
          "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
          "FieldValueRequired metadata.taints[1].effect: Required value",
          "FieldValueInvalid metadata.taints[3].value: Invalid value: \"c c\": " + no_label_value,
          R"(FieldValueDuplicate metadata.taints[3]: Duplicate value: {"Key":"d","Value":"c c",)"
          R"("Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect )"
          R"(pair)"));
}

TEST_F(NodeTest, ItsOwnTaintIsTheOneThatItGets) {
  const json taint = {{"key", "node.kubernetes.io/not-ready"},
                      {"effect", "NoSchedule"},
                      {"timeAdded", "2026-01-02T03:04:05Z"}};
  const Answer made = Post("/api/v1/nodes", {{"metadata", {{"name", Unique("n")}}},
                                             {"spec", {{"taints", json::array({taint})}}}});

  EXPECT_EQ(made.at("/spec/taints"), json::array({taint}));
}

class LeaseTest : public ConformanceTest {};

TEST_F(LeaseTest, ATimeNeedsMicroseconds) {
  const Answer made =
      Post(Path("coordination.k8s.io/v1", "leases"),
           {{"metadata", {{"name", "a"}}}, {"spec", {{"renewTime", "2026-01-02T03:04:05Z"}}}});

  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(made.message(),
            R"(Lease in version "v1" cannot be handled as a Lease: parsing time )"
            R"("2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as )"
            R"(".000000")");
}

}  // namespace
}  // namespace kopp::conformance
