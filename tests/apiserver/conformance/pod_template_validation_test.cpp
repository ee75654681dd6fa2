#include "conformance.hpp"
#include "explanations.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

const std::string in_template = "spec.template.spec.";
const std::string first_container = in_template + "containers[0].";

/// A change of a good Deployment's Pod spec and what the server says of it.
struct BadPodSpec {
  std::string test{};
  json patch{};
  std::vector<std::string> causes{};

  friend void PrintTo(const BadPodSpec& bad, std::ostream* out) { *out << bad.patch; }
};

class PodSpecTest : public ConformanceTest, public ::testing::WithParamInterface<BadPodSpec> {};

TEST_P(PodSpecTest, IsInvalid) {
  json deployment = ADeployment("a");
  deployment["spec"]["template"]["spec"].merge_patch(GetParam().patch);
  const Answer made = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.reason(), "Invalid");
  EXPECT_THAT(Causes(made), ElementsAreArray(GetParam().causes));
}

std::string NoId(const std::string& field) {
  return "FieldValueInvalid " + field + ": Invalid value: -1: must be between 0 and 2147483647, " +
         "inclusive";
}
json TwoContainers() {
  return {{"containers", {{{"name", "c"}, {"image", "i"}}, {{"name", "c"}, {"image", "j"}}}}};
}

const BadPodSpec bad_specs[] = {
    {"NoContainers",
     {{"containers", json::array()}},
     {"FieldValueRequired " + in_template + "containers: Required value"}},
    {"ContainerWithNothing",
     {{"containers", json::array({json::object()})}},
     {"FieldValueRequired " + first_container + "name: Required value",
      "FieldValueRequired " + first_container + "image: Required value"}},
    {"ContainersOfOneName",
     TwoContainers(),
     {"FieldValueDuplicate " + in_template + "containers[1].name: Duplicate value: \"c\""}},
    {"InitContainerNamedLikeAContainer",
     {{"initContainers", {{{"name", "nginx"}, {"image", "i"}}}}},
     {"FieldValueDuplicate " + in_template + "initContainers[0].name: Duplicate value: \"nginx\""}},
    {"RestartPolicyOfAJob",
     {{"restartPolicy", "Never"}},
     {"FieldValueNotSupported " + in_template +
      "restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""}},
    {"IdsBelowZero",
     R"({"securityContext": {"runAsUser": -1, "runAsGroup": -1, "fsGroup": -1,
                             "supplementalGroups": [-1]},
         "containers": [{"name": "c", "image": "i", "securityContext": {"runAsUser": -1}}]})"_json,
     {NoId(first_container + "securityContext.runAsUser"),
      NoId(in_template + "securityContext.fsGroup"),
      NoId(in_template + "securityContext.runAsUser"),
      NoId(in_template + "securityContext.runAsGroup"),
      NoId(in_template + "securityContext.supplementalGroups[0]")}},
    {"Tolerations",
     R"({"tolerations": [
          {"key": "a", "operator": "Exists", "value": "x"},
          {"key": "b", "effect": "Foo"},
          {"operator": "Equal", "value": "v"},
          {"key": "c", "tolerationSeconds": 3, "effect": "NoSchedule"},
          {"key": "e", "operator": "Foo"}]})"_json,
     {"FieldValueInvalid " + in_template +
          "tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is "
          "'Exists'",
      "FieldValueNotSupported " + in_template +
          "tolerations[1].effect: Unsupported value: \"Foo\": supported values: \"NoSchedule\", "
          "\"PreferNoSchedule\", \"NoExecute\"",
      "FieldValueInvalid " + in_template +
          "tolerations[2].operator: Invalid value: \"Equal\": operator must be Exists when `key` "
          "is empty, which means \"match all values and all keys\"",
      "FieldValueInvalid " + in_template +
          "tolerations[3].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
          "`tolerationSeconds` is set",
      "FieldValueNotSupported " + in_template +
          "tolerations[4].operator: Unsupported value: \"Foo\": supported values: \"Equal\", "
          "\"Exists\""}},
    {"UnknownDnsPolicy",
     {{"dnsPolicy", "Odd"}},
     {"FieldValueNotSupported " + in_template +
      R"(dnsPolicy: Unsupported value: "Odd": supported values: "ClusterFirstWithHostNet", )"
      R"("ClusterFirst", "Default", "None")"}},
    {"BadServiceAccountName",
     {{"serviceAccountName", "BAD_"}},
     {"FieldValueInvalid " + in_template +
      "serviceAccountName: Invalid value: \"BAD_\": " + no_subdomain}},
    {"BadNodeSelector",
     {{"nodeSelector", {{"-", "x"}}}},
     {"FieldValueInvalid " + in_template + "nodeSelector: Invalid value: \"-\": name part " +
      no_qualified_name}},
    {"VolumesOfOneName",
     {{"volumes", R"([{"name": "v"}, {"name": "v"}])"_json}},
     {"FieldValueDuplicate " + in_template + "volumes[1].name: Duplicate value: \"v\""}},
    {"VolumeOfTwoKinds",
     {{"volumes", R"([{"name": "v", "emptyDir": {}, "configMap": {"name": "c"}}])"_json}},
     {"FieldValueForbidden " + in_template +
      "volumes[0].configMap: Forbidden: may not specify more than 1 volume type"}},
};
INSTANTIATE_TEST_SUITE_P(, PodSpecTest, ::testing::ValuesIn(bad_specs),
                         [](const auto& bad) { return bad.param.test; });

class ContainerTest : public PodSpecTest {};

TEST_P(ContainerTest, IsInvalid) {
  json deployment = ADeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0].merge_patch(GetParam().patch);
  const Answer made = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.reason(), "Invalid");
  EXPECT_THAT(Causes(made), ElementsAreArray(GetParam().causes));
}

const BadPodSpec bad_containers[] = {
    {"NoName",
     {{"name", nullptr}},
     {"FieldValueRequired " + first_container + "name: Required value"}},
    {"BadName",
     {{"name", "C_"}},
     {"FieldValueInvalid " + first_container + "name: Invalid value: \"C_\": " + no_label}},
    {"NoImage",
     {{"image", nullptr}},
     {"FieldValueRequired " + first_container + "image: Required value"}},
    {"UnknownPullPolicy",
     {{"imagePullPolicy", "Sometimes"}},
     {"FieldValueNotSupported " + first_container +
      R"(imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", )"
      R"("IfNotPresent", "Never")"}},
    {"PortWithoutANumber",
     {{"ports", R"([{"name": "web"}])"_json}},
     {"FieldValueRequired " + first_container + "ports[0].containerPort: Required value"}},
    {"PortThatIsTooLarge",
     {{"ports", R"([{"containerPort": 70000}])"_json}},
     {"FieldValueInvalid " + first_container +
      "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
    {"PortOfAnUnknownProtocol",
     {{"ports", R"([{"containerPort": 80, "protocol": "HTTP"}])"_json}},
     {"FieldValueNotSupported " + first_container +
      R"(ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP")"}},
    {"PortWithABadName",
     {{"ports", R"([{"containerPort": 80, "name": "BAD_"}])"_json}},
     {"FieldValueInvalid " + first_container +
          "ports[0].name: Invalid value: \"BAD_\": must contain only alpha-numeric characters "
          "(a-z, 0-9), and hyphens (-)",
      "FieldValueInvalid " + first_container +
          "ports[0].name: Invalid value: \"BAD_\": must contain at least one letter (a-z)"}},
    {"PortWithALongName",
     {{"ports", R"([{"containerPort": 80, "name": "aaaaaaaaaaaaaaaa"}])"_json}},
     {"FieldValueInvalid " + first_container +
      "ports[0].name: Invalid value: \"aaaaaaaaaaaaaaaa\": must be no more than 15 characters"}},
    {"PortsOfOneName",
     {{"ports",
       R"([{"containerPort": 80, "name": "w"}, {"containerPort": 81, "name": "w"}])"_json}},
     {"FieldValueDuplicate " + first_container + "ports[1].name: Duplicate value: \"w\""}},
    {"EnvWithoutAName",
     {{"env", R"([{"value": "x"}])"_json}},
     {"FieldValueRequired " + first_container + "env[0].name: Required value"}},
    {"EnvWithAnEqualsSignInItsName",
     {{"env", R"([{"name": "a=b"}])"_json}},
     {"FieldValueInvalid " + first_container +
      "env[0].name: Invalid value: \"a=b\": a valid environment variable name must consist only "
      "of printable ASCII characters other than '='"}},
    {"EnvWithAValueTwice",
     {{"env",
       R"([{"name": "A", "value": "x",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])"_json}},
     {"FieldValueInvalid " + first_container +
      "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"}},
    {"EnvFromNothing",
     {{"env", R"([{"name": "A", "valueFrom": {}}])"_json}},
     {"FieldValueInvalid " + first_container +
      "env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, "
      "`resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"}},
    {"EnvFromAFieldThatThereIsNot",
     {{"env", R"([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}])"_json}},
     {"FieldValueInvalid " + first_container +
      "env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"spec.x\": error converting "
      "fieldPath: field label not supported: spec.x"}},
    {"MoreRequestedThanAllowed",
     {{"resources", R"({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})"_json}},
     {"FieldValueInvalid " + first_container +
      "resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"}},
    {"LessThanNothingRequested",
     {{"resources", R"({"requests": {"cpu": "-1"}})"_json}},
     {"FieldValueInvalid " + first_container +
      "resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
    {"MountOfNoVolume",
     {{"volumeMounts", R"([{"name": "no", "mountPath": "/x"}])"_json}},
     {"FieldValueNotFound " + first_container + "volumeMounts[0].name: Not found: \"no\""}},
    {"ProbeOfNothing",
     {{"livenessProbe", {{"periodSeconds", 1}}}},
     {"FieldValueRequired " + first_container +
      "livenessProbe: Required value: must specify a handler type"}},
    {"ProbeOfNoPort",
     {{"livenessProbe", {{"httpGet", {{"port", 0}}}}}},
     {"FieldValueInvalid " + first_container +
      "livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive"}},
};
INSTANTIATE_TEST_SUITE_P(, ContainerTest, ::testing::ValuesIn(bad_containers),
                         [](const auto& bad) { return bad.param.test; });

class PodTest : public ConformanceTest {};

TEST_F(PodTest, WithoutContainersIsInvalid) {
  const Answer made = Post(Pods(), AConfigMap("a"));

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.message(), "Pod \"a\" is invalid: spec.containers: Required value");
}

TEST_F(PodTest, OfAServiceAccountThatIsNotThereIsForbidden) {
  json pod = APod("a");
  pod["spec"]["serviceAccountName"] = "none";
  const Answer made = Post(Pods(), pod);

  EXPECT_EQ(made.status, 403);
  EXPECT_EQ(made.reason(), "Forbidden");
  EXPECT_EQ(made.message(), "pods \"a\" is forbidden: error looking up service account " + ns() +
                                "/none: serviceaccount \"none\" not found");
}

TEST_F(PodTest, AQuantityThatIsNoneIsABadRequest) {
  json deployment = ADeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0]["resources"] = {
      {"requests", {{"cpu", "x"}}}};
  const Answer made = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(
      made.message(),
      R"(Deployment in version "v1" cannot be handled as a Deployment: quantities must match )"
      R"(the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$')");
}

TEST_F(PodTest, ItsImageMayChange) {
  Post(Pods(), APod("a"));
  const Answer patched = JsonPatch(
      Path("pods") + "/a",
      R"([{"op": "replace", "path": "/spec/containers/0/image", "value": "nginx:1.28"}])"_json);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

TEST_F(PodTest, ItsNodeMayNotChange) {
  Post(Pods(), APod("a"));
  const Answer patched = MergePatch(Path("pods") + "/a", {{"spec", {{"nodeName", "n1"}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.str("/details/causes/0/reason"), "FieldValueForbidden");
  EXPECT_EQ(patched.str("/details/causes/0/field"), "spec");
  EXPECT_THAT(patched.message(),
              ::testing::StartsWith("Pod \"a\" is invalid: spec: Forbidden: pod updates may not "
                                    "change fields other than `spec.containers[*].image`"));
}

}  // namespace
}  // namespace kopp::conformance
