#include "conformance.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// An invalid object and the expected causes.
struct InvalidObject {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  json object{};
  std::vector<std::string> causes{};

  friend void PrintTo(const InvalidObject& invalid, std::ostream* out) {
    *out << invalid.test_name;
  }
};

/// Fixture of tests of the validation of built-in kinds on create.
class ValidationTest : public ConformanceTest,
                       public ::testing::WithParamInterface<InvalidObject> {};

TEST_P(ValidationTest, InvalidObjectIsRejectedWithItsCauses) {
  const auto& [test, group_version, plural, sent, causes] = GetParam();
  json object = MakeObjectWithName("a");
  object.update(sent);
  const JsonResponse response =
      Post(group_version == "v1" ? Path(plural) : Path(group_version, plural), object);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_THAT(Causes(response), ElementsAreArray(causes));
}

json ObjectWithDataKey(const std::string& key) { return {{"data", {{key, "eA=="}}}}; }
std::string InvalidKeyCause(const std::string& key, const std::string& reason) {
  return "FieldValueInvalid data[" + key + "]: Invalid value: \"" + key + "\": " + reason;
}
json ServiceWithPorts(const std::string& ports) {
  return {{"spec", {{"ports", json::parse(ports)}}}};
}
/// Returns a valid Job with `spec_patch` merged into its spec.
json PatchedJob(const json& spec_patch) {
  json pod = MakePod("a")["spec"];
  pod["restartPolicy"] = "Never";
  json job{{"template", {{"spec", pod}}}};
  job.merge_patch(spec_patch);
  return {{"spec", job}};
}
/// Returns a valid CronJob with `spec_patch` merged into its spec.
json PatchedCronJob(const json& spec_patch) {
  json cron_job{{"schedule", "@hourly"}, {"jobTemplate", PatchedJob(json::object())}};
  cron_job.merge_patch(spec_patch);
  return {{"spec", cron_job}};
}
const std::string restart_policy_required =
    "FieldValueRequired spec.template.spec.restartPolicy: Required value: valid values: "
    "\"OnFailure\", \"Never\"";

/// Returns the cause of an Endpoints address that no client can reach.
std::string UnreachableAddressCause(int index, const std::string& ip, const std::string& reason) {
  return "FieldValueInvalid subsets[0].addresses[" + std::to_string(index) +
         "].ip: Invalid value: \"" + ip + "\": may not be " + reason;
}

const InvalidObject invalid_objects[] = {
    {"ConfigMapKeyWithASpace",
     "v1",
     "configmaps",
     ObjectWithDataKey("a b"),
     {InvalidKeyCause("a b", config_key_error)}},
    {"ConfigMapWithEmptyKey",
     "v1",
     "configmaps",
     ObjectWithDataKey(""),
     {InvalidKeyCause("", config_key_error)}},
    {"ConfigMapKeyIsTwoDots",
     "v1",
     "configmaps",
     ObjectWithDataKey(".."),
     {InvalidKeyCause("..", "must not be '..'")}},
    {"ConfigMapKeyStartsWithTwoDots",
     "v1",
     "configmaps",
     ObjectWithDataKey("..x"),
     {InvalidKeyCause("..x", "must not start with '..'")}},
    {"ConfigMapKeyInDataAndBinaryData",
     "v1",
     "configmaps",
     R"({"data": {"a": "x"}, "binaryData": {"a": "eA=="}})"_json,
     {InvalidKeyCause("a", "duplicate of key present in binaryData")}},
    {"ConfigMapLargerThan1Mib",
     "v1",
     "configmaps",
     {{"data", {{"a", std::string((1 << 20) + 1, 'x')}}}},
     {"FieldValueTooLong []: Too long: may not be more than 1048576 bytes"}},
    {"SecretKeyWithASpace",
     "v1",
     "secrets",
     ObjectWithDataKey("a b"),
     {InvalidKeyCause("a b", config_key_error)}},
    {"SecretLargerThan1Mib",
     "v1",
     "secrets",
     {{"stringData", {{"a", std::string((1 << 20) + 1, 'x')}}}},
     {"FieldValueTooLong data: Too long: may not be more than 1048576 bytes"}},
    {"TlsSecretWithoutKeys",
     "v1",
     "secrets",
     {{"type", "kubernetes.io/tls"}},
     {"FieldValueRequired data[tls.crt]: Required value",
      "FieldValueRequired data[tls.key]: Required value"}},
    {"ServiceWithoutPorts",
     "v1",
     "services",
     ServiceWithPorts("[]"),
     {"FieldValueRequired spec.ports: Required value"}},
    {"ServicePortOutOfRange",
     "v1",
     "services",
     ServiceWithPorts(R"([{"port": 70000, "targetPort": 80}])"),
     {"FieldValueInvalid spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, "
      "inclusive"}},
    {"ServiceWithTwoUnnamedPorts",
     "v1",
     "services",
     ServiceWithPorts(R"([{"port": 80}, {"port": 81}])"),
     {"FieldValueRequired spec.ports[0].name: Required value",
      "FieldValueRequired spec.ports[1].name: Required value"}},
    {"ServiceWithDuplicatePortNames",
     "v1",
     "services",
     ServiceWithPorts(R"([{"port": 80, "name": "a"}, {"port": 81, "name": "a"}])"),
     {"FieldValueDuplicate spec.ports[1].name: Duplicate value: \"a\""}},
    {"ServiceOfUnknownType",
     "v1",
     "services",
     R"({"spec": {"type": "Odd", "ports": [{"port": 80}]}})"_json,
     {R"(FieldValueNotSupported spec.type: Unsupported value: "Odd": supported values: )"
      R"("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")"}},
    {"ExternalNameServiceWithoutExternalName",
     "v1",
     "services",
     R"({"spec": {"type": "ExternalName"}})"_json,
     {"FieldValueRequired spec.externalName: Required value"}},
    {"ServiceWithAnInvalidExternalIp",
     "v1",
     "services",
     R"({"spec": {"ports": [{"port": 80}], "externalIPs": ["10.0.0.256"]}})"_json,
     {R"(FieldValueInvalid spec.externalIPs[0]: Invalid value: "10.0.0.256": must be a valid IP )"
      R"(address, (e.g. 10.9.8.7 or 2001:db8::ffff))"}},
    {"ServiceWithFieldsOfALoadBalancer",
     "v1",
     "services",
     R"({"spec": {"ports": [{"port": 80}], "loadBalancerSourceRanges": ["10.0.0.0/33"],
         "loadBalancerClass": "a.b/c", "allocateLoadBalancerNodePorts": false}})"_json,
     {"FieldValueForbidden spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` "
      "is "
      "'LoadBalancer'",
      R"(FieldValueInvalid spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/33": must be )"
      R"(a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64))",
      "FieldValueForbidden spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when "
      "`type` is 'LoadBalancer'",
      "FieldValueForbidden spec.loadBalancerClass: Forbidden: may only be used when `type` is "
      "'LoadBalancer'"}},
    {"NodePortServiceWithUnknownTrafficPolicies",
     "v1",
     "services",
     R"({"spec": {"type": "NodePort", "ports": [{"port": 80}], "externalTrafficPolicy": "Odd",
         "internalTrafficPolicy": "Odd"}})"_json,
     {R"(FieldValueNotSupported spec.externalTrafficPolicy: Unsupported value: "Odd": supported )"
      R"(values: "Cluster", "Local")",
      R"(FieldValueNotSupported spec.internalTrafficPolicy: Unsupported value: "Odd": supported )"
      R"(values: "Cluster", "Local")"}},
    {"ServiceWithAnExternalTrafficPolicyButNoExternalAccess",
     "v1",
     "services",
     R"({"spec": {"ports": [{"port": 80}], "externalTrafficPolicy": "Local"}})"_json,
     {R"(FieldValueInvalid spec.externalTrafficPolicy: Invalid value: "Local": may only be set for )"
      "externally-accessible services"}},
    {"ServicePortWithAnInvalidTarget",
     "v1",
     "services",
     ServiceWithPorts(R"([{"port": 80, "targetPort": "no_underscore"}])"),
     {R"(FieldValueInvalid spec.ports[0].targetPort: Invalid value: "no_underscore": must contain )"
      "only alpha-numeric characters (a-z, 0-9), and hyphens (-)"}},
    {"DockerSecretWithoutJson",
     "v1",
     "secrets",
     R"({"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eA=="}})"_json,
     {R"(FieldValueInvalid data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": )"
      "invalid character 'x' looking for beginning of value"}},
    {"DockerSecretWithANumber",
     "v1",
     "secrets",
     R"({"type": "kubernetes.io/dockercfg", "data": {".dockercfg": "MQ=="}})"_json,
     {R"(FieldValueInvalid data[.dockercfg]: Invalid value: "<secret contents redacted>": json: )"
      "cannot unmarshal number into Go value of type map[string]interface {}"}},
    {"ControllerRevisionWithoutData",
     "apps/v1",
     "controllerrevisions",
     R"({"revision": -1})"_json,
     {NegativeValueCause("revision"),
      "FieldValueRequired data: Required value: data is mandatory"}},
    {"ControllerRevisionWithDataThatIsNoObject",
     "apps/v1",
     "controllerrevisions",
     R"({"data": "x"})"_json,
     {"FieldValueRequired data: Required value: data must be a valid JSON object"}},
    {"PodTemplateWithoutContainers",
     "v1",
     "podtemplates",
     R"({"template": {"metadata": {"labels": {"a": "-b"}}, "spec": {}}})"_json,
     {"FieldValueInvalid template.labels: Invalid value: \"-b\": " + label_value_error,
      "FieldValueRequired template.spec.containers: Required value"}},
    {"DisruptionBudgetWithUnknownEvictionPolicy",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"spec": {"unhealthyPodEvictionPolicy": "Odd"}})"_json,
     {R"(FieldValueNotSupported spec.unhealthyPodEvictionPolicy: Unsupported value: "Odd": )"
      R"(supported values: "AlwaysAllow", "IfHealthyBudget")"}},
    {"ClaimWithInvalidFields",
     "v1",
     "persistentvolumeclaims",
     R"({"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce", "Odd"], "volumeMode": "Odd",
         "storageClassName": "a b", "selector": {"matchLabels": {"a": "-b"}},
         "resources": {"requests": {"storage": "0"}},
         "dataSourceRef": {"apiGroup": "a b", "kind": "K", "name": ""}}})"_json,
     {"FieldValueInvalid spec.selector.matchLabels: Invalid value: \"-b\": " + label_value_error,
      R"(FieldValueNotSupported spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")",
      R"(FieldValueForbidden spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes)",
      R"(FieldValueInvalid spec.resources[storage]: Invalid value: "0": must be greater than zero)",
      R"(FieldValueInvalid spec.storageClassName: Invalid value: "a b": )" +
          dns1123_subdomain_error,
      R"(FieldValueNotSupported spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem")",
      "FieldValueRequired spec.dataSource.name: Required value",
      R"(FieldValueInvalid spec.dataSource.apiGroup: Invalid value: "a b": )" +
          dns1123_subdomain_error,
      "FieldValueRequired spec.dataSourceRef.name: Required value",
      R"(FieldValueInvalid spec.dataSourceRef.apiGroup: Invalid value: "a b": )" +
          dns1123_subdomain_error}},
    {"IngressWithInvalidNames",
     "networking.k8s.io/v1",
     "ingresses",
     R"({"spec": {"ingressClassName": "a b", "tls": [{"hosts": ["*.a", "A"], "secretName": "A"}],
         "defaultBackend": {"resource": {"apiGroup": "A", "kind": "", "name": "a/b"}}}})"_json,
     {"FieldValueInvalid spec.defaultBackend.resource.apiGroup: Invalid value: \"A\": " +
          dns1123_subdomain_error,
      "FieldValueRequired spec.defaultBackend.resource.kind: Required value",
      R"(FieldValueInvalid spec.defaultBackend.resource.name: Invalid value: "a/b": may not contain '/')",
      "FieldValueInvalid spec.tls[0].hosts[1]: Invalid value: \"A\": " + dns1123_subdomain_error,
      "FieldValueInvalid spec.tls[0].secretName: Invalid value: \"A\": " + dns1123_subdomain_error,
      "FieldValueInvalid spec.ingressClassName: Invalid value: \"a b\": " +
          dns1123_subdomain_error}},
    {"ServiceWithUnknownTrafficDistribution",
     "v1",
     "services",
     R"({"spec": {"ports": [{"port": 80}], "trafficDistribution": "Odd"}})"_json,
     {R"(FieldValueNotSupported spec.trafficDistribution: Unsupported value: "Odd": supported )"
      R"(values: "PreferClose", "PreferSameZone", "PreferSameNode")"}},
    {"StatefulSetWithUnknownPolicies",
     "apps/v1",
     "statefulsets",
     R"({"spec": {"selector": {"matchLabels": {"a": "b"}},
         "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Odd", "whenScaled": "Retain"},
         "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}},
         "template": {"metadata": {"labels": {"a": "b"}},
                      "spec": {"containers": [{"name": "c", "image": "c"}]}}}})"_json,
     {NegativeValueCause("spec.updateStrategy.rollingUpdate.partition"),
      R"(FieldValueNotSupported spec.persistentVolumeClaimRetentionPolicy.whenDeleted: )"
      R"(Unsupported value: "Odd": supported values: "Retain", "Delete")"}},
    {"JobWithoutRestartPolicy",
     "batch/v1",
     "jobs",
     PatchedJob(R"({"template": {"spec": {"restartPolicy": null}}})"_json),
     {restart_policy_required}},
    {"JobWithRestartPolicyAlways",
     "batch/v1",
     "jobs",
     PatchedJob(R"({"template": {"spec": {"restartPolicy": "Always"}}})"_json),
     {restart_policy_required}},
    {"JobWithNegativeParallelism",
     "batch/v1",
     "jobs",
     PatchedJob({{"parallelism", -1}}),
     {NegativeValueCause("spec.parallelism")}},
    {"JobWithNegativeBackoffLimit",
     "batch/v1",
     "jobs",
     PatchedJob({{"backoffLimit", -1}}),
     {NegativeValueCause("spec.backoffLimit")}},
    {"CronJobWithoutSchedule",
     "batch/v1",
     "cronjobs",
     PatchedCronJob({{"schedule", nullptr}}),
     {"FieldValueRequired spec.schedule: Required value"}},
    {"CronJobWithMalformedSchedule",
     "batch/v1",
     "cronjobs",
     PatchedCronJob({{"schedule", "bad"}}),
     {"FieldValueInvalid spec.schedule: Invalid value: \"bad\": expected exactly 5 fields, found "
      "1: [bad]"}},
    {"CronJobWithUnknownConcurrencyPolicy",
     "batch/v1",
     "cronjobs",
     PatchedCronJob({{"concurrencyPolicy", "Odd"}}),
     {R"(FieldValueNotSupported spec.concurrencyPolicy: Unsupported value: "Odd": supported )"
      R"(values: "Allow", "Forbid", "Replace")"}},
    {"LeaseWithZeroDuration",
     "coordination.k8s.io/v1",
     "leases",
     R"({"spec": {"leaseDurationSeconds": 0}})"_json,
     {"FieldValueInvalid spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"}},
    {"LeaseWithNegativeTransitions",
     "coordination.k8s.io/v1",
     "leases",
     R"({"spec": {"leaseTransitions": -1}})"_json,
     {NegativeValueCause("spec.leaseTransitions")}},
    {"RoleRuleWithoutVerbsAndApiGroups",
     "rbac.authorization.k8s.io/v1",
     "roles",
     R"({"rules": [{"resources": ["pods"]}]})"_json,
     {"FieldValueRequired rules[0].verbs: Required value: verbs must contain at least one value",
      "FieldValueRequired rules[0].apiGroups: Required value: resource rules must supply at least "
      "one api group"}},
    {"RoleBindingWithUnknownKindsAndWithoutRoleName",
     "rbac.authorization.k8s.io/v1",
     "rolebindings",
     R"({"roleRef": {"kind": "Nope"}, "subjects": [{"kind": "X", "name": "s"}]})"_json,
     {R"(FieldValueNotSupported roleRef.kind: Unsupported value: "Nope": supported values: )"
      R"("Role", "ClusterRole")",
      "FieldValueRequired roleRef.name: Required value",
      R"(FieldValueNotSupported subjects[0].kind: Unsupported value: "X": supported values: )"
      R"("ServiceAccount", "User", "Group")"}},
    {"IngressPathWithoutPathType",
     "networking.k8s.io/v1",
     "ingresses",
     R"({"spec": {"rules": [{"http": {"paths": [
          {"path": "/", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
        ]}}]}})"_json,
     {"FieldValueRequired spec.rules[0].http.paths[0].pathType: Required value: pathType must be "
      "specified"}},
    {"DisruptionBudgetWithNegativeMinAvailable",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"spec": {"minAvailable": -1}})"_json,
     {NegativeValueCause("spec.minAvailable")}},
    {"DisruptionBudgetAbove100Percent",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"spec": {"minAvailable": "150%"}})"_json,
     {"FieldValueInvalid spec.minAvailable: Invalid value: \"150%\": must not be greater than "
      "100%"}},
    {"ClaimWithNegativeStorage",
     "v1",
     "persistentvolumeclaims",
     R"({"spec": {"accessModes": ["ReadWriteOnce"],
                  "resources": {"requests": {"storage": "-1Gi"}}}})"_json,
     {"FieldValueInvalid spec.resources[storage]: Invalid value: \"-1Gi\": must be greater than "
      "zero"}},
    {"EndpointsWithInvalidIpAndPort",
     "v1",
     "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "1.2.3"}], "ports": [{"port": 0}]}]})"_json,
     {"FieldValueInvalid subsets[0].addresses[0].ip: Invalid value: \"1.2.3\": must be a valid IP "
      "address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
      "FieldValueInvalid subsets[0].addresses[0].ip: Invalid value: \"1.2.3\": must be a valid IP "
      "address",
      "FieldValueInvalid subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, "
      "inclusive"}},
    {"EndpointsWithUnreachableAddresses",
     "v1",
     "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "127.0.0.1", "hostname": "A_", "nodeName": "B_"},
                                    {"ip": "0.0.0.0"}, {"ip": "169.254.0.1"}, {"ip": "224.0.0.1"},
                                    {"ip": "::"}, {"ip": "::1"}, {"ip": "fe80::1"},
                                    {"ip": "ff02::1"}],
                      "ports": [{"port": 1, "appProtocol": "x y"}]}]})"_json,
     {"FieldValueInvalid subsets[0].addresses[0].hostname: Invalid value: \"A_\": " +
          dns1123_label_error,
      "FieldValueInvalid subsets[0].addresses[0].nodeName: Invalid value: \"B_\": " +
          dns1123_subdomain_error,
      UnreachableAddressCause(0, "127.0.0.1", "in the loopback range (127.0.0.0/8, ::1/128)"),
      UnreachableAddressCause(1, "0.0.0.0", "unspecified (0.0.0.0)"),
      UnreachableAddressCause(2, "169.254.0.1",
                              "in the link-local range (169.254.0.0/16, fe80::/10)"),
      UnreachableAddressCause(3, "224.0.0.1",
                              "in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
      UnreachableAddressCause(4, "::", "unspecified (::)"),
      UnreachableAddressCause(5, "::1", "in the loopback range (127.0.0.0/8, ::1/128)"),
      UnreachableAddressCause(6, "fe80::1", "in the link-local range (169.254.0.0/16, fe80::/10)"),
      UnreachableAddressCause(7, "ff02::1",
                              "in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
      "FieldValueInvalid subsets[0].ports[0].appProtocol: Invalid value: \"x y\": name part " +
          qualified_name_error}},
    {"EndpointsWithUnnamedPortAndWithoutAddresses",
     "v1",
     "endpoints",
     R"({"subsets": [{"ports": [{"port": 1, "name": "A_"}, {"port": 2, "protocol": "X"}]}]})"_json,
     {"FieldValueRequired subsets[0]: Required value: must specify `addresses` or "
      "`notReadyAddresses`",
      "FieldValueInvalid subsets[0].ports[0].name: Invalid value: \"A_\": " + dns1123_label_error,
      "FieldValueRequired subsets[0].ports[1].name: Required value",
      "FieldValueNotSupported subsets[0].ports[1].protocol: Unsupported value: \"X\": supported "
      "values: \"SCTP\", \"TCP\", \"UDP\""}},
    {"EventWithInvolvedObjectOfAnotherNamespace",
     "v1",
     "events",
     R"({"involvedObject": {"namespace": "other"}})"_json,
     {"FieldValueInvalid involvedObject.namespace: Invalid value: \"other\": does not match "
      "event.namespace"}},
    {"CoreEventWithEventTimeAndInvalidReportingComponent",
     "v1",
     "events",
     R"({"involvedObject": {"namespace": "other"}, "eventTime": "2024-01-01T00:00:00.000000Z",
         "reportingComponent": "a b", "reportingInstance": "i", "action": "a",
         "reason": "r"})"_json,
     {"FieldValueInvalid reportingComponent: Invalid value: \"a b\": name part " +
      qualified_name_error}},
    {"EventOfTheEventsGroupWithInvalidReportingController",
     "events.k8s.io/v1",
     "events",
     R"({"regarding": {"namespace": "other"}, "eventTime": "2024-01-01T00:00:00.000000Z",
         "reportingController": "a b", "reportingInstance": "i", "action": "a", "reason": "r",
         "type": "Normal"})"_json,
     {"FieldValueInvalid reportingController: Invalid value: \"a b\": name part " +
      qualified_name_error}},
};
INSTANTIATE_TEST_SUITE_P(, ValidationTest, ::testing::ValuesIn(invalid_objects),
                         [](const auto& invalid) { return invalid.param.test_name; });

/// Fixture of tests of the taints of Nodes.
class NodeTaintTest : public ConformanceTest {};

TEST_F(NodeTaintTest, InvalidTaintsAreRejectedWithTheirCauses) {
  const json taints = R"([{"key": "a", "effect": "Foo"}, {"key": "b"},
                          {"key": "d", "effect": "NoSchedule"},
                          {"key": "d", "value": "c c", "effect": "NoSchedule"}])"_json;
  const JsonResponse response = Post(
      "/api/v1/nodes", {{"metadata", {{"name", UniqueName("n")}}}, {"spec", {{"taints", taints}}}});

  EXPECT_THAT(
      Causes(response),
      ElementsAre(
          "FieldValueNotSupported metadata.taints[0].effect: Unsupported value: \"Foo\": supported "
          "values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"",
          "FieldValueRequired metadata.taints[1].effect: Required value",
          "FieldValueInvalid metadata.taints[3].value: Invalid value: \"c c\": " +
              label_value_error,
          R"(FieldValueDuplicate metadata.taints[3]: Duplicate value: {"Key":"d","Value":"c c",)"
          R"("Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect )"
          R"(pair)"));
}

TEST_F(NodeTaintTest, NotReadyTaintInTheRequestIsNotAddedAgain) {
  const json taint = {{"key", "node.kubernetes.io/not-ready"},
                      {"effect", "NoSchedule"},
                      {"timeAdded", "2026-01-02T03:04:05Z"}};
  const JsonResponse created = Post(
      "/api/v1/nodes",
      {{"metadata", {{"name", UniqueName("n")}}}, {"spec", {{"taints", json::array({taint})}}}});

  EXPECT_EQ(created.at("/spec/taints"), json::array({taint}));
}

/// Fixture of tests of the times of Leases.
class LeaseTimeTest : public ConformanceTest {};

TEST_F(LeaseTimeTest, RenewTimeWithoutMicrosecondsIsABadRequest) {
  const JsonResponse response =
      Post(Path("coordination.k8s.io/v1", "leases"),
           {{"metadata", {{"name", "a"}}}, {"spec", {{"renewTime", "2026-01-02T03:04:05Z"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            R"(Lease in version "v1" cannot be handled as a Lease: parsing time )"
            R"("2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as )"
            R"(".000000")");
}

}  // namespace
}  // namespace kopp::conformance
