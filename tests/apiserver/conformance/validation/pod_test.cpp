#include "conformance.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

/// Fixture of tests of new Pods: their validation and the fields that the server sets.
class PodTest : public ConformanceTest {
 protected:
  /// Creates a Pod "a" whose spec is changed by a merge patch.
  JsonResponse CreatePod(const json& spec_patch, const json& metadata_patch = json::object()) {
    json pod = MakePod("a");
    pod["spec"].merge_patch(spec_patch);
    pod["metadata"].merge_patch(metadata_patch);
    return Post(PodsPath(), pod);
  }
};

TEST_F(PodTest, ImageMustNotHaveWhiteSpaceAroundIt) {
  EXPECT_THAT(Causes(CreatePod(R"({"containers": [{"name": "c", "image": " i"}]})"_json)),
              ElementsAre("FieldValueInvalid spec.containers[0].image: Invalid value: \" i\": must "
                          "not have leading or trailing whitespace"));
}

TEST_F(PodTest, NewPodCannotHaveEphemeralContainers) {
  EXPECT_THAT(
      Causes(CreatePod(R"({"ephemeralContainers": [{"name": "e", "image": "i"}]})"_json)),
      ElementsAre("FieldValueForbidden spec.ephemeralContainers: Forbidden: cannot be set on "
                  "create"));
}

TEST_F(PodTest, AnImagePullSecretWithoutANameHasAnOwner) {
  EXPECT_EQ(CreatePod(R"({"imagePullSecrets": [{}]})"_json)
                .at("/metadata/managedFields/0/fieldsV1/f:spec/f:imagePullSecrets"),
            R"({".": {}, "k:{\"name\":\"\"}": {}})"_json);
}

TEST_F(PodTest, ANegativeGracePeriodIsOneSecond) {
  EXPECT_EQ(
      CreatePod({{"terminationGracePeriodSeconds", -1}}).at("/spec/terminationGracePeriodSeconds"),
      1);
}

TEST_F(PodTest, GatedPodCannotHaveANode) {
  EXPECT_THAT(Causes(CreatePod(R"({"nodeName": "n", "schedulingGates": [{"name": "a"}]})"_json)),
              ElementsAre("FieldValueForbidden spec.nodeName: Forbidden: cannot be set until all "
                          "schedulingGates have been cleared"));
}

TEST_F(PodTest, GatedPodHasACondition) {
  const JsonResponse pod = CreatePod(R"({"schedulingGates": [{"name": "a"}]})"_json);

  EXPECT_EQ(pod.status, 201);
  EXPECT_EQ(pod.str("/status/conditions/0/type"), "PodScheduled");
  EXPECT_EQ(pod.str("/status/conditions/0/status"), "False");
  EXPECT_EQ(pod.str("/status/conditions/0/reason"), "SchedulingGated");
}

TEST_F(PodTest, PodInTheNetworkOfItsNodeHasThePortsOfTheNode) {
  EXPECT_THAT(
      Causes(CreatePod(R"({"hostNetwork": true, "containers": [{"name": "c", "image": "i",
                           "ports": [{"containerPort": 80, "hostPort": 81}]}]})"_json)),
      ElementsAre("FieldValueInvalid spec.containers[0].ports[0].hostPort: Invalid value: 81: must "
                  "match `containerPort` when `hostNetwork` is true"));
}

TEST_F(PodTest, TemplateInTheNetworkOfItsNodeMayOmitThePortsOfTheNode) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"].merge_patch(
      R"({"hostNetwork": true, "containers": [{"name": "c", "image": "i",
          "ports": [{"containerPort": 80}]}]})"_json);

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), deployment).status, 201);
}

TEST_F(PodTest, ClaimOfAnEphemeralVolumeHasAValidName) {
  EXPECT_THAT(
      Causes(CreatePod({{"volumes",
                         {{{"name", std::string(63, 'v')},
                           {"ephemeral",
                            {{"volumeClaimTemplate",
                              {{"spec",
                                R"({"accessModes": ["ReadWriteOnce"],
                       "resources": {"requests": {"storage": "1"}}})"_json}}}}}}}}},
                       {{"name", std::string(250, 'a')}})),
      ElementsAre(StartsWith("FieldValueInvalid spec.volumes[0].name: Invalid value: \"vvv")));
}

TEST_F(PodTest, VolumeCannotBeAClaimOfAnEphemeralVolume) {
  EXPECT_THAT(
      Causes(CreatePod(
          R"({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a-w"}},
                {"name": "w", "ephemeral": {"volumeClaimTemplate": {"spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1"}}}}}}]})"_json)),
      ElementsAre("FieldValueInvalid spec.volumes[0].persistentVolumeClaim.claimName: Invalid "
                  "value: \"a-w\": must not reference a PVC that gets created for an ephemeral "
                  "volume"));
}

TEST_F(PodTest, PrivilegedContainerMayEscalateItsPrivileges) {
  const JsonResponse response = CreatePod(
      R"({"containers": [{"name": "c", "image": "i", "securityContext": {
            "privileged": true, "allowPrivilegeEscalation": false}}]})"_json);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.str("/details/causes/0/field"), "spec.containers[0].securityContext");
  EXPECT_THAT(response.message(),
              ::testing::EndsWith(
                  "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
}

TEST_F(PodTest, ResizePoliciesOfAPodThatNeverRestarts) {
  EXPECT_THAT(
      Causes(CreatePod(R"({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i",
                "resizePolicy": [{"resourceName": "cpu",
                                  "restartPolicy": "RestartContainer"}]}]})"_json)),
      ElementsAre("FieldValueInvalid spec.containers[0].resizePolicy: Invalid value: "
                  "\"RestartContainer\": must be 'NotRequired' when `restartPolicy` is 'Never'"));
}

TEST_F(PodTest, AnnotationsAreValidated) {
  EXPECT_THAT(
      Causes(CreatePod(json::object(),
                       R"({"annotations": {
                            "container.apparmor.security.beta.kubernetes.io/c": "odd",
                            "container.seccomp.security.alpha.kubernetes.io/nginx": "localhost/../a",
                            "controller.kubernetes.io/pod-deletion-cost": "01",
                            "kubernetes.io/config.mirror": "x",
                            "seccomp.security.alpha.kubernetes.io/pod": "odd"}})"_json)),
      ElementsAre(
          "FieldValueInvalid metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "
          "\"x\": must set spec.nodeName if mirror pod annotation is set",
          "FieldValueInvalid metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: "
          "Invalid value: \"01\": must be a 32bit integer",
          "FieldValueInvalid metadata.annotations.seccomp.security.alpha.kubernetes.io/pod: "
          "Invalid value: \"odd\": must be a valid seccomp profile",
          "FieldValueInvalid "
          "metadata.annotations.container.seccomp.security.alpha.kubernetes.io/nginx: Invalid "
          "value: \"../a\": must not contain '..'",
          "FieldValueInvalid metadata.annotations[container.apparmor.security.beta.kubernetes.io/"
          "c]: Invalid value: \"c\": container not found",
          "FieldValueInvalid metadata.annotations[container.apparmor.security.beta.kubernetes.io/"
          "c]: Invalid value: \"odd\": invalid AppArmor profile name: \"odd\""));
}

TEST_F(PodTest, AnnotationsOfProfilesMustEqualTheirFields) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"].merge_patch(
      R"({"metadata": {"annotations": {
            "container.apparmor.security.beta.kubernetes.io/nginx": "localhost/b",
            "seccomp.security.alpha.kubernetes.io/pod": "runtime/default"}},
          "spec": {"securityContext": {
            "seccompProfile": {"type": "Unconfined"},
            "appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}}}})"_json);

  EXPECT_THAT(Causes(Post(Path("apps/v1", "deployments"), deployment)),
              ElementsAre("FieldValueForbidden spec.template.spec.securityContext.seccompProfile."
                          "type: Forbidden: seccomp type in annotation and field must match",
                          "FieldValueForbidden spec.template.spec.containers[0].securityContext."
                          "appArmorProfile.localhostProfile: Forbidden: apparmor profile in "
                          "annotation and field must match"));
}

TEST_F(PodTest, AppArmorProfileOfAnAnnotationIsCopiedToTheContainer) {
  const JsonResponse pod = CreatePod(
      R"({"containers": [{"name": "b", "image": "i"}, {"name": "c", "image": "i"}],
          "securityContext": {"appArmorProfile": {"type": "Unconfined"}}})"_json,
      R"({"annotations": {
            "container.apparmor.security.beta.kubernetes.io/b": "unconfined",
            "container.apparmor.security.beta.kubernetes.io/c": "localhost/p"}})"_json);

  EXPECT_EQ(pod.status, 201);
  EXPECT_FALSE(pod.at("/spec/containers/0").contains("securityContext"));
  EXPECT_EQ(pod.at("/spec/containers/1/securityContext/appArmorProfile"),
            R"({"type": "Localhost", "localhostProfile": "p"})"_json);
}

TEST_F(PodTest, MetadataOfATemplateIsValidated) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["metadata"]["annotations"] = {
      {"A b", "x"}, {"controller.kubernetes.io/pod-deletion-cost", "x"}};

  EXPECT_THAT(
      Causes(Post(Path("apps/v1", "deployments"), deployment)),
      ElementsAre(
          "FieldValueInvalid spec.template.annotations: Invalid value: \"A b\": name part " +
              qualified_name_error,
          "FieldValueInvalid spec.template.annotations[controller.kubernetes.io/"
          "pod-deletion-cost]: Invalid value: \"x\": must be a 32bit integer"));
}

TEST_F(PodTest, TemplateCannotHaveEphemeralContainers) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["ephemeralContainers"] =
      R"([{"name": "e", "image": "i"}])"_json;

  EXPECT_THAT(Causes(Post(Path("apps/v1", "deployments"), deployment)),
              ElementsAre("FieldValueForbidden spec.template.spec.ephemeralContainers: Forbidden: "
                          "ephemeral containers not allowed in pod template"));
}

TEST_F(PodTest, VolumesOfAStatefulSetAreUniqueAndReplacedByItsClaims) {
  const json pod_template = R"({"metadata": {"labels": {"a": "b"}}, "spec": {
      "hostname": "IGNORED", "containers": [{"name": "c", "image": "i"}],
      "volumes": [{"name": "data"}, {"name": "v"}, {"name": "v"}]}})"_json;
  const json claim = R"({"metadata": {"name": "data"}, "spec": {
      "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}})"_json;
  const json set{{"metadata", {{"name", "a"}}},
                 {"spec",
                  {{"selector", {{"matchLabels", {{"a", "b"}}}}},
                   {"serviceName", "s"},
                   {"template", pod_template},
                   {"volumeClaimTemplates", json::array({claim})}}}};

  EXPECT_THAT(Causes(Post(Path("apps/v1", "statefulsets"), set)),
              ElementsAre("FieldValueDuplicate spec.template.spec.volumes[2].name: Duplicate "
                          "value: \"v\""));
}

TEST_F(PodTest, HugeAmountsOfDevicesAreIntegers) {
  EXPECT_EQ(CreatePod(R"({"containers": [{"name": "c", "image": "i", "resources": {
                "limits": {"example.com/gpu": "10E"}}}]})"_json)
                .status,
            201);
}

TEST_F(PodTest, ErrorsOfTheStartOfTheNameComeFirst) {
  EXPECT_THAT(Causes(CreatePod(json::object(), R"({"name": null, "generateName": "A"})"_json)),
              ElementsAre("FieldValueInvalid metadata.generateName: Invalid value: \"A\": " +
                              dns1123_subdomain_error,
                          StartsWith("FieldValueInvalid metadata.name: Invalid value: \"A")));
}

TEST_F(PodTest, LabelKeysAreAddedToTheirSelectors) {
  const json selector{{"matchLabels", {{"b", "c"}}}};
  const json term{{"topologyKey", "k"},
                  {"labelSelector", selector},
                  {"matchLabelKeys", {"app", "none"}},
                  {"mismatchLabelKeys", {"tier"}}};
  const JsonResponse pod = CreatePod(
      {{"affinity",
        {{"podAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", json::array({term})}}},
         {"podAntiAffinity",
          {{"preferredDuringSchedulingIgnoredDuringExecution",
            json::array({{{"weight", 1}, {"podAffinityTerm", term}}})}}}}},
       {"topologySpreadConstraints", json::array({{{"maxSkew", 1},
                                                   {"topologyKey", "k"},
                                                   {"whenUnsatisfiable", "ScheduleAnyway"},
                                                   {"labelSelector", selector},
                                                   {"matchLabelKeys", {"app"}}}})}},
      R"({"labels": {"app": "x", "tier": "y"}})"_json);
  const json app{{"key", "app"}, {"operator", "In"}, {"values", {"x"}}};
  const json tier{{"key", "tier"}, {"operator", "NotIn"}, {"values", {"y"}}};

  EXPECT_EQ(pod.status, 201);
  EXPECT_EQ(pod.at("/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/0/"
                   "labelSelector/matchExpressions"),
            json::array({app, tier}));
  EXPECT_EQ(pod.at("/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/"
                   "0/podAffinityTerm/labelSelector/matchExpressions"),
            json::array({app, tier}));
  EXPECT_EQ(pod.at("/spec/topologySpreadConstraints/0/labelSelector/matchExpressions"),
            json::array({app}));
}

/// The resources of the containers of a Pod, and its QoS class.
struct QosCase {
  std::string test_name{};
  json resources{};
  std::string qos_class{};

  friend void PrintTo(const QosCase& qos, std::ostream* out) { *out << qos.resources; }
};

class PodQosTest : public PodTest, public ::testing::WithParamInterface<QosCase> {};

TEST_P(PodQosTest, QosClassDependsOnTheResourcesOfAllContainers) {
  json containers = json::array();
  for (const json& resources : GetParam().resources) {
    containers.push_back({{"name", "c" + std::to_string(containers.size())},
                          {"image", "i"},
                          {"resources", resources}});
  }

  EXPECT_EQ(CreatePod({{"containers", containers}}).str("/status/qosClass"), GetParam().qos_class);
}

const QosCase qos_cases[] = {
    {"Zero", R"([{"limits": {"cpu": "0", "memory": "0"}}])"_json, "BestEffort"},
    {"LimitsOfOneContainer", R"([{"limits": {"cpu": "1", "memory": "1Gi"}}, {}])"_json,
     "Burstable"},
    {"LimitsOfAllContainers",
     R"([{"limits": {"cpu": "1", "memory": "1Gi"}},
         {"limits": {"cpu": "2", "memory": "1Mi"}}])"_json,
     "Guaranteed"},
    {"LimitOfZero", R"([{"limits": {"cpu": "0", "memory": "1Gi"}}])"_json, "Burstable"},
    {"EqualAmountsWithDifferentTexts",
     R"([{"limits": {"cpu": "1", "memory": "1Gi"},
          "requests": {"cpu": "1000m", "memory": "1024Mi"}}])"_json,
     "Guaranteed"},
};
INSTANTIATE_TEST_SUITE_P(, PodQosTest, ::testing::ValuesIn(qos_cases),
                         [](const auto& qos) { return qos.param.test_name; });

TEST_F(PodTest, ResourcesOfTheWholePodDecideOnItsQosClass) {
  const JsonResponse pod = CreatePod(R"({"resources": {"limits": {"cpu": "1", "memory": "1Gi"},
                                  "requests": {"cpu": "1", "memory": "1Gi"}}})"_json);

  EXPECT_EQ(pod.str("/status/qosClass"), "Guaranteed");
}

TEST_F(PodTest, FieldsOfDisabledFeaturesAreDropped) {
  const JsonResponse pod = CreatePod(
      R"({"hostnameOverride": "h", "os": {"name": "linux"}, "volumes": [
            {"name": "i", "image": {"reference": "r"}},
            {"name": "p", "projected": {"sources": [
                {"clusterTrustBundle": {"name": "a", "path": "p"}}]}}],
          "containers": [{"name": "c", "image": "i", "restartPolicy": "Never",
            "lifecycle": {"stopSignal": "SIGTERM"},
            "volumeMounts": [{"name": "i", "mountPath": "/i"}]}],
          "initContainers": [{"name": "d", "image": "i", "restartPolicy": "Never"},
                             {"name": "e", "image": "i", "restartPolicy": "Always"}]})"_json);
  const json& spec = pod.at("/spec");

  EXPECT_EQ(pod.status, 201);
  EXPECT_FALSE(spec.contains("hostnameOverride"));
  EXPECT_EQ(pod.str("/spec/volumes/0/name"), "p");
  EXPECT_EQ(pod.at("/spec/volumes/0/projected/sources"), json::array({json::object()}));
  EXPECT_FALSE(pod.at("/spec/containers/0").contains("restartPolicy"));
  EXPECT_FALSE(pod.at("/spec/containers/0/lifecycle").contains("stopSignal"));
  EXPECT_EQ(pod.at("/spec/containers/0/volumeMounts").size(), 1);
  EXPECT_FALSE(pod.at("/spec/initContainers/0").contains("restartPolicy"));
  EXPECT_EQ(pod.str("/spec/initContainers/1/restartPolicy"), "Always");
}

TEST_F(PodTest, SourceOfADisabledFeatureIsNoSource) {
  EXPECT_THAT(
      Causes(CreatePod(
          R"({"containers": [{"name": "c", "image": "i", "env": [{"name": "A", "valueFrom": {
                "fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}}]}]})"_json)),
      ElementsAre("FieldValueInvalid spec.containers[0].env[0].valueFrom: Invalid value: \"\": "
                  "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                  "`secretKeyRef`"));
}

TEST_F(PodTest, DivisorDefaultsToZero) {
  const JsonResponse pod = CreatePod(R"({"containers": [{"name": "c", "image": "i", "env": [
                      {"name": "A", "valueFrom": {"resourceFieldRef": {
                          "resource": "limits.cpu"}}}]}]})"_json);

  EXPECT_EQ(pod.str("/spec/containers/0/env/0/valueFrom/resourceFieldRef/divisor"), "0");
}

TEST_F(PodTest, OnlyImagesWithTheTagLatestArePulledAlways) {
  for (const auto& [image, policy] : {std::pair<std::string, std::string>{"a", "Always"},
                                      {"localhost/a:latest", "Always"},
                                      {"Example.com:5000/a", "Always"},
                                      {"-a.b/c", "IfNotPresent"},
                                      {"a.b:/c", "IfNotPresent"},
                                      {"../up", "IfNotPresent"},
                                      {std::string(64, 'a'), "IfNotPresent"},
                                      {std::string(247, 'g'), "Always"},
                                      {std::string(248, 'g'), "IfNotPresent"},
                                      {"a.b/" + std::string(255, 'g'), "Always"}}) {
    json deployment = MakeDeployment(UniqueName("a"));
    deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image;
    const JsonResponse created = Post(Path("apps/v1", "deployments"), deployment);

    EXPECT_EQ(created.str("/spec/template/spec/containers/0/imagePullPolicy"), policy) << image;
  }
}

}  // namespace
}  // namespace kopp::conformance
