#include "pod_spec_validation.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

const std::string pod_spec_field = "spec.template.spec.";
const std::string container_field = pod_spec_field + "containers[0].";

TEST_P(PodSpecValidationTest, InvalidPodSpecIsRejectedWithItsCauses) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"].merge_patch(GetParam().patch);
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_THAT(Causes(response), ElementsAreArray(GetParam().causes));
}

/// Returns the cause of a user or group id below zero.
std::string NegativeIdCause(const std::string& field) {
  return "FieldValueInvalid " + field + ": Invalid value: -1: must be between 0 and 2147483647, " +
         "inclusive";
}
json ContainersWithDuplicateNames() {
  return {{"containers", {{{"name", "c"}, {"image", "i"}}, {{"name", "c"}, {"image", "j"}}}}};
}

const InvalidPodSpec invalid_pod_specs[] = {
    {"NoContainers",
     {{"containers", json::array()}},
     {"FieldValueRequired " + pod_spec_field + "containers: Required value"}},
    {"EmptyContainer",
     {{"containers", json::array({json::object()})}},
     {"FieldValueRequired " + container_field + "name: Required value",
      "FieldValueRequired " + container_field + "image: Required value"}},
    {"DuplicateContainerName",
     ContainersWithDuplicateNames(),
     {"FieldValueDuplicate " + pod_spec_field + "containers[1].name: Duplicate value: \"c\""}},
    {"InitContainerWithTheNameOfAContainer",
     {{"initContainers", {{{"name", "nginx"}, {"image", "i"}}}}},
     {"FieldValueDuplicate " + pod_spec_field +
      "initContainers[0].name: Duplicate value: \"nginx\""}},
    {"PortsOfAPodInTheNetworkOfItsNode",
     R"({"hostNetwork": true, "containers": [
          {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 81}]}]})"_json,
     {"FieldValueInvalid " + container_field +
      "ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is "
      "true"}},
    {"TwoContainersWithOnePortOfTheNode",
     R"({"containers": [
          {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]},
          {"name": "d", "image": "i", "ports": [{"containerPort": 81, "hostPort": 80}]}]})"_json,
     {"FieldValueDuplicate " + pod_spec_field +
      "containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\""}},
    {"MountPropagation",
     R"({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "image": "i",
          "volumeMounts": [{"name": "v", "mountPath": "/a", "mountPropagation": "Odd"},
            {"name": "v", "mountPath": "/b", "mountPropagation": "Bidirectional"}]}]})"_json,
     {"FieldValueNotSupported " + container_field +
          R"(volumeMounts.mountPropagation: Unsupported value: "Odd": supported values: )"
          R"("Bidirectional", "HostToContainer", "None")",
      "FieldValueForbidden " + container_field +
          "volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available "
          "only to privileged containers"}},
    {"DeviceWithoutVolume",
     R"({"containers": [{"name": "c", "image": "i", "volumeDevices": [{"name": "v"}]}]})"_json,
     {"FieldValueNotFound " + container_field + R"(volumeDevices[0].name: Not found: "v")",
      "FieldValueRequired " + container_field + "volumeDevices[0].devicePath: Required value"}},
    {"HostPathWithoutPath",
     R"({"volumes": [{"name": "v", "hostPath": {}}]})"_json,
     {"FieldValueRequired " + pod_spec_field + "volumes[0].hostPath.path: Required value"}},
    {"UnknownOperatingSystem",
     R"({"os": {"name": "odd"}})"_json,
     {"FieldValueNotSupported " + pod_spec_field +
      R"(os: Unsupported value: "odd": supported values: "linux", "windows")"}},
    {"RestartPolicyNever",
     {{"restartPolicy", "Never"}},
     {"FieldValueNotSupported " + pod_spec_field +
      "restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""}},
    {"NegativeUserAndGroupIds",
     R"({"securityContext": {"runAsUser": -1, "runAsGroup": -1, "fsGroup": -1,
                             "supplementalGroups": [-1]},
         "containers": [{"name": "c", "image": "i", "securityContext": {"runAsUser": -1}}]})"_json,
     {NegativeIdCause(container_field + "securityContext.runAsUser"),
      NegativeIdCause(pod_spec_field + "securityContext.fsGroup"),
      NegativeIdCause(pod_spec_field + "securityContext.runAsUser"),
      NegativeIdCause(pod_spec_field + "securityContext.runAsGroup"),
      NegativeIdCause(pod_spec_field + "securityContext.supplementalGroups[0]")}},
    {"InvalidTolerations",
     R"({"tolerations": [
          {"key": "a", "operator": "Exists", "value": "x"},
          {"key": "b", "effect": "Foo"},
          {"operator": "Equal", "value": "v"},
          {"key": "c", "tolerationSeconds": 3, "effect": "NoSchedule"},
          {"key": "e", "operator": "Foo"}]})"_json,
     {"FieldValueInvalid " + pod_spec_field +
          "tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is "
          "'Exists'",
      "FieldValueNotSupported " + pod_spec_field +
          "tolerations[1].effect: Unsupported value: \"Foo\": supported values: \"NoSchedule\", "
          "\"PreferNoSchedule\", \"NoExecute\"",
      "FieldValueInvalid " + pod_spec_field +
          "tolerations[2].operator: Invalid value: \"Equal\": operator must be Exists when `key` "
          "is empty, which means \"match all values and all keys\"",
      "FieldValueInvalid " + pod_spec_field +
          "tolerations[3].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
          "`tolerationSeconds` is set",
      "FieldValueNotSupported " + pod_spec_field +
          "tolerations[4].operator: Unsupported value: \"Foo\": supported values: \"Equal\", "
          "\"Exists\""}},
    {"UnknownDnsPolicy",
     {{"dnsPolicy", "Odd"}},
     {"FieldValueNotSupported " + pod_spec_field +
      R"(dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", )"
      R"("ClusterFirst", "Default", "None")"}},
    {"InvalidServiceAccountName",
     {{"serviceAccountName", "BAD_"}},
     {"FieldValueInvalid " + pod_spec_field +
      "serviceAccountName: Invalid value: \"BAD_\": " + dns1123_subdomain_error}},
    {"InvalidNodeSelector",
     {{"nodeSelector", {{"-", "x"}}}},
     {"FieldValueInvalid " + pod_spec_field + "nodeSelector: Invalid value: \"-\": name part " +
      qualified_name_error}},
    {"DuplicateVolumeName",
     {{"volumes", R"([{"name": "v"}, {"name": "v"}])"_json}},
     {"FieldValueDuplicate " + pod_spec_field + "volumes[1].name: Duplicate value: \"v\""}},
    {"VolumeOfTwoTypes",
     {{"volumes", R"([{"name": "v", "emptyDir": {}, "configMap": {"name": "c"}}])"_json}},
     {"FieldValueForbidden " + pod_spec_field +
      "volumes[0].configMap: Forbidden: may not specify more than 1 volume type"}},
};
INSTANTIATE_TEST_SUITE_P(, PodSpecValidationTest, ::testing::ValuesIn(invalid_pod_specs),
                         [](const auto& invalid) { return invalid.param.test_name; });

class ContainerValidationTest : public PodSpecValidationTest {};

TEST_P(ContainerValidationTest, InvalidContainerIsRejectedWithItsCauses) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0].merge_patch(GetParam().patch);
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_THAT(Causes(response), ElementsAreArray(GetParam().causes));
}

const InvalidPodSpec invalid_containers[] = {
    {"MissingName",
     {{"name", nullptr}},
     {"FieldValueRequired " + container_field + "name: Required value"}},
    {"InvalidName",
     {{"name", "C_"}},
     {"FieldValueInvalid " + container_field +
      "name: Invalid value: \"C_\": " + dns1123_label_error}},
    {"MissingImage",
     {{"image", nullptr}},
     {"FieldValueRequired " + container_field + "image: Required value"}},
    {"UnknownPullPolicy",
     {{"imagePullPolicy", "Sometimes"}},
     {"FieldValueNotSupported " + container_field +
      R"(imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", )"
      R"("IfNotPresent", "Never")"}},
    {"PortWithoutNumber",
     {{"ports", R"([{"name": "web"}])"_json}},
     {"FieldValueRequired " + container_field + "ports[0].containerPort: Required value"}},
    {"PortOutOfRange",
     {{"ports", R"([{"containerPort": 70000}])"_json}},
     {"FieldValueInvalid " + container_field +
      "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
    {"PortWithUnknownProtocol",
     {{"ports", R"([{"containerPort": 80, "protocol": "HTTP"}])"_json}},
     {"FieldValueNotSupported " + container_field +
      R"(ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP")"}},
    {"PortWithInvalidName",
     {{"ports", R"([{"containerPort": 80, "name": "BAD_"}])"_json}},
     {"FieldValueInvalid " + container_field +
          "ports[0].name: Invalid value: \"BAD_\": must contain only alpha-numeric characters "
          "(a-z, 0-9), and hyphens (-)",
      "FieldValueInvalid " + container_field +
          "ports[0].name: Invalid value: \"BAD_\": must contain at least one letter (a-z)"}},
    {"PortWithTooLongName",
     {{"ports", R"([{"containerPort": 80, "name": "aaaaaaaaaaaaaaaa"}])"_json}},
     {"FieldValueInvalid " + container_field +
      "ports[0].name: Invalid value: \"aaaaaaaaaaaaaaaa\": must be no more than 15 characters"}},
    {"DuplicatePortName",
     {{"ports",
       R"([{"containerPort": 80, "name": "w"}, {"containerPort": 81, "name": "w"}])"_json}},
     {"FieldValueDuplicate " + container_field + "ports[1].name: Duplicate value: \"w\""}},
    {"EnvWithoutName",
     {{"env", R"([{"value": "x"}])"_json}},
     {"FieldValueRequired " + container_field + "env[0].name: Required value"}},
    {"EnvNameWithAnEqualsSign",
     {{"env", R"([{"name": "a=b"}])"_json}},
     {"FieldValueInvalid " + container_field +
      "env[0].name: Invalid value: \"a=b\": a valid environment variable name must consist only "
      "of printable ASCII characters other than '='"}},
    {"EnvWithValueAndValueFrom",
     {{"env",
       R"([{"name": "A", "value": "x",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])"_json}},
     {"FieldValueInvalid " + container_field +
      "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"}},
    {"EnvWithEmptyValueFrom",
     {{"env", R"([{"name": "A", "valueFrom": {}}])"_json}},
     {"FieldValueInvalid " + container_field +
      "env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, "
      "`resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"}},
    {"EnvFromAnUnknownField",
     {{"env", R"([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}])"_json}},
     {"FieldValueInvalid " + container_field +
      "env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x\": error converting "
      "fieldPath: field label not supported: spec.x"}},
    {"RequestAboveLimit",
     {{"resources", R"({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})"_json}},
     {"FieldValueInvalid " + container_field +
      "resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"}},
    {"NegativeRequest",
     {{"resources", R"({"requests": {"cpu": "-1"}})"_json}},
     {"FieldValueInvalid " + container_field +
      "resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
    {"MountOfAMissingVolume",
     {{"volumeMounts", R"([{"name": "no", "mountPath": "/x"}])"_json}},
     {"FieldValueNotFound " + container_field + "volumeMounts[0].name: Not found: \"no\""}},
    {"ProbeWithoutHandler",
     {{"livenessProbe", {{"periodSeconds", 1}}}},
     {"FieldValueRequired " + container_field +
      "livenessProbe: Required value: must specify a handler type"}},
    {"ProbeWithPortZero",
     {{"livenessProbe", {{"httpGet", {{"port", 0}}}}}},
     {"FieldValueInvalid " + container_field +
      "livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive"}},
};
INSTANTIATE_TEST_SUITE_P(, ContainerValidationTest, ::testing::ValuesIn(invalid_containers),
                         [](const auto& invalid) { return invalid.param.test_name; });

/// Fixture of tests of the validation and updates of Pods.
class PodValidationTest : public ConformanceTest {};

TEST_F(PodValidationTest, PodWithoutContainersIsInvalid) {
  const JsonResponse response = Post(PodsPath(), MakeObjectWithName("a"));

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.message(), "Pod \"a\" is invalid: spec.containers: Required value");
}

TEST_F(PodValidationTest, PodWithAMissingServiceAccountIsForbidden) {
  json pod = MakePod("a");
  pod["spec"]["serviceAccountName"] = "none";
  const JsonResponse response = Post(PodsPath(), pod);

  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.reason(), "Forbidden");
  EXPECT_EQ(response.message(), "pods \"a\" is forbidden: error looking up service account " +
                                    ns() + "/none: serviceaccount \"none\" not found");
}

TEST_F(PodValidationTest, MalformedQuantityIsABadRequest) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {
      {"requests", {{"cpu", "x"}}}};
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(
      response.message(),
      R"(Deployment in version "v1" cannot be handled as a Deployment: quantities must match )"
      R"(the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')");
}

TEST_F(PodValidationTest, ContainerImageCanBeChanged) {
  Post(PodsPath(), MakePod("a"));
  const JsonResponse patched = JsonPatch(
      Path("pods") + "/a",
      R"([{"op": "replace", "path": "/spec/containers/0/image", "value": "nginx:1.28"}])"_json);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

TEST_F(PodValidationTest, NodeNameCannotBeChangedByAnUpdate) {
  Post(PodsPath(), MakePod("a"));
  const JsonResponse patched = MergePatch(Path("pods") + "/a", {{"spec", {{"nodeName", "n1"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.str("/details/causes/0/reason"), "FieldValueForbidden");
  EXPECT_EQ(patched.str("/details/causes/0/field"), "spec");
  EXPECT_THAT(patched.message(),
              ::testing::StartsWith("Pod \"a\" is invalid: spec: Forbidden: pod updates may not "
                                    "change fields other than `spec.containers[*].image`"));
}

}  // namespace
}  // namespace kopp::conformance
