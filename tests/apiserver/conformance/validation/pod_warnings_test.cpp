#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

/// A merge patch of the Pod template of a Deployment, and the expected warnings.
struct DoubtfulTemplate {
  std::string test_name{};
  json patch{};
  std::vector<std::string> warnings{};

  friend void PrintTo(const DoubtfulTemplate& doubtful, std::ostream* out) {
    *out << doubtful.patch;
  }
};

class PodWarningsTest : public ConformanceTest,
                        public ::testing::WithParamInterface<DoubtfulTemplate> {};

TEST_P(PodWarningsTest, ValidTemplateHasWarnings) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"].merge_patch(GetParam().patch);
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 201);
  EXPECT_THAT(response.warnings, UnorderedElementsAreArray(GetParam().warnings));
}

const DoubtfulTemplate
    doubtful_templates
        [] =
            {
                {"DeprecatedNodeLabels",
                 R"({"spec": {"nodeSelector": {"beta.kubernetes.io/os": "linux"},
          "affinity": {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
              {"matchExpressions": [{"key": "beta.kubernetes.io/arch", "operator": "Exists"}]}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {
              "matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]}}]}}}})"_json,
                 {R"(spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead)",
                  R"(spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead)",
                  R"(spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: - is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))"}},
                {"NullSelectors",
                 R"({"spec": {
          "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
              {"topologyKey": "a"}]}},
          "topologySpreadConstraints": [
              {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}]}})"_json,
                 {R"(spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod)",
                  R"(spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod)"}},
                {"Annotations",
                 R"({"metadata": {"annotations": {
          "scheduler.alpha.kubernetes.io/critical-pod": "",
          "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
          "container.seccomp.security.alpha.kubernetes.io/nginx": "runtime/default",
          "container.apparmor.security.beta.kubernetes.io/nginx": "unconfined"}}})"_json,
                 {R"(spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead)",
                  R"(spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead)",
                  R"(spec.template.metadata.annotations[container.seccomp.security.alpha.kubernetes.io/nginx]: non-functional in v1.27+; use the "seccompProfile" field instead)",
                  R"(spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/nginx]: deprecated since v1.30; use the "appArmorProfile" field instead)"}},
                {"VolumeKinds",
                 R"({"spec": {"volumes": [
          {"name": "a", "gitRepo": {"repository": "r"}},
          {"name": "b", "rbd": {"monitors": ["m"], "image": "i"}},
          {"name": "c", "storageos": {"volumeName": "v"}}]}})"_json,
                 {R"(spec.template.spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+)",
                  "spec.template.spec.volumes[1].rbd: deprecated in v1.28, non-functional in "
                  "v1.31+",
                  "spec.template.spec.volumes[2].storageOS: deprecated in v1.22, non-functional in "
                  "v1.25+"}},
                {"OverlappingPaths",
                 R"({"spec": {"volumes": [
          {"name": "a", "configMap": {"name": "m", "items": [
              {"key": "k", "path": "p"}, {"key": "k", "path": "p/q"}, {"key": "k", "path": "pq"}]}},
          {"name": "b", "projected": {"sources": [{},
              {"serviceAccountToken": {"path": "p/q"}},
              {"secret": {"name": "s", "items": [{"key": "k", "path": "p"}]}}]}}]}})"_json,
                 {R"(volume "a" (ConfigMap "m"): overlapping paths: "p/q" with "p")",
                  R"(volume "b" (Projected) has no sources provided)",
                  R"(volume "b" (Projected): overlapping paths: "p" (Secret "s") with "p/q" (ServiceAccountToken))"}},
                {"Duplicates",
                 R"({"spec": {"hostAliases": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.1"}],
                  "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]}})"_json,
                 {"spec.template.spec.hostAliases[1].ip: duplicate ip \"10.0.0.1\"",
                  "spec.template.spec.imagePullSecrets[1].name: duplicate name \"a\"",
                  "spec.template.spec.imagePullSecrets[2].name: invalid empty name \"\""}},
                {"HiddenVariables",
                 R"json({"spec": {"containers": [{"name": "c", "image": "i", "env": [
          {"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"},
          {"name": "A", "value": "$(A)2"},
          {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}})json"_json,
                 {R"(spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply)",
                  R"(spec.template.spec.containers[0].env[3]: hides previous definition of "A", which may be dropped when using apply)"}},
                {"Ports",
                 R"({"spec": {"initContainers": [{"name": "d", "image": "i",
          "ports": [{"containerPort": 80, "name": "a"}]}],
          "containers": [{"name": "c", "image": "i", "ports": [
            {"containerPort": 80, "name": "a"},
            {"containerPort": 80, "hostPort": 1},
            {"containerPort": 81, "hostPort": 2},
            {"containerPort": 81, "hostPort": 2, "hostIP": "10.0.0.1"},
            {"containerPort": 82, "hostIP": "10.0.0.1"}]}]}})"_json,
                 {R"(spec.template.spec.containers[0].ports[0]: duplicate port definition with spec.template.spec.initContainers[0].ports[0])",
                  R"(spec.template.spec.containers[0].ports[1]: overlapping port definition with spec.template.spec.initContainers[0].ports[0])",
                  R"(spec.template.spec.containers[0].ports[1]: overlapping port definition with spec.template.spec.containers[0].ports[0])",
                  R"(spec.template.spec.containers[0].ports[3]: dangerously ambiguous port definition with spec.template.spec.containers[0].ports[2])", R"(spec.template.spec.containers[0].ports[4]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:82 Protocol:TCP HostIP:10.0.0.1})", R"(spec.template.spec.containers[0].ports[0]: duplicate port name "a" with spec.template.spec.initContainers[0].ports[0], services and probes that select ports by name will use spec.template.spec.initContainers[0].ports[0])"}},
                {"NegativeGracePeriod",
                 R"({"spec": {"terminationGracePeriodSeconds": -1}})"_json,
                 {R"(spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1)"}},
                {"Addresses",
                 R"({"spec": {"dnsConfig": {"nameservers": ["010.0.0.1", "::FFFF:1.2.3.4", "::A"]}}})"_json,
                 {R"(spec.template.spec.dnsConfig.nameservers[0]: non-standard IP address "010.0.0.1" will be considered invalid in a future Kubernetes release: use "10.0.0.1")",
                  R"(spec.template.spec.dnsConfig.nameservers[1]: non-standard IP address "::FFFF:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4")",
                  R"(spec.template.spec.dnsConfig.nameservers[2]: IPv6 address "::A" should be in RFC 5952 canonical format ("::a"))"}},
                {"FractionalBytes",
                 R"({"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {
          "memory": "100m"}}}], "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {
          "spec": {"accessModes": ["ReadWriteOnce"],
                   "resources": {"requests": {"storage": "100m"}}}}}}]}})"_json,
                 {R"(spec.template.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer)",
                  R"(spec.template.spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer)"}},
                {"HugeBytes",
                 R"({"spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {
          "memory": "10E"}}}]}})"_json,
                 {}},
};
INSTANTIATE_TEST_SUITE_P(, PodWarningsTest, ::testing::ValuesIn(doubtful_templates),
                         [](const auto& doubtful) { return doubtful.param.test_name; });

/// Fixture of tests of warnings that do not depend on the field.
class WarningsTest : public ConformanceTest {};

TEST_F(WarningsTest, PodNameThatIsNoHostNameCausesAWarning) {
  const JsonResponse pod = Post(PodsPath(), MakePod("a.b"));

  EXPECT_EQ(pod.status, 201);
  EXPECT_THAT(
      pod.warnings,
      ElementsAre(
          R"(metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots])"));
}

TEST_F(WarningsTest, NameThatIsNoHostNameOfPodsCausesAWarning) {
  const char* const warning =
      R"(metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots])";
  json job{{"metadata", {{"name", "a.b"}}},
           {"spec", {{"template", MakeDeployment("a")["spec"]["template"]}}}};
  job["spec"]["template"]["spec"]["restartPolicy"] = "Never";

  EXPECT_THAT(Post(Path("apps/v1", "deployments"), MakeDeployment("a.b")).warnings,
              ElementsAre(warning));
  EXPECT_THAT(Post(Path("apps/v1", "replicasets"), MakeDeployment("a.b")).warnings,
              ElementsAre(warning));
  EXPECT_THAT(Post(Path("batch/v1", "jobs"), job).warnings, ElementsAre(warning));
  const json cron_job{
      {"metadata", {{"name", "a.b"}}},
      {"spec", {{"schedule", "* * * * *"}, {"jobTemplate", {{"spec", job["spec"]}}}}}};
  EXPECT_THAT(Post(Path("batch/v1", "cronjobs"), cron_job).warnings, ElementsAre(warning));
  json controller = MakeDeployment("a.b");
  controller["spec"].erase("selector");
  EXPECT_THAT(Post(Path("replicationcontrollers"), controller).warnings, ElementsAre(warning));
}

TEST_F(WarningsTest, StatefulSetHasWarningsAboutItsClaimsAndHistory) {
  json set = MakeDeployment("a");
  set["spec"]["serviceName"] = "s";
  set["spec"]["revisionHistoryLimit"] = -1;
  set["spec"]["volumeClaimTemplates"] = R"([{"metadata": {"name": "c"}, "spec": {
      "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "100m"}}}}])"_json;

  EXPECT_THAT(
      Post(Path("apps/v1", "statefulsets"), set).warnings,
      ElementsAre(
          R"(spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "100m" is invalid, must be an integer)",
          R"(spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended)"));
}

TEST_F(WarningsTest, UpdateOfMetadataHasNoWarnings) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["imagePullSecrets"] = R"([{}])"_json;
  Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_THAT(
      MergePatch(Path("apps/v1", "deployments") + "/a", {{"metadata", {{"labels", {{"a", "b"}}}}}})
          .warnings,
      IsEmpty());
}

TEST_F(WarningsTest, EqualWarningsAreSentOnce) {
  json deployment = MakeDeployment("a");
  const json item{{"key", "k"}, {"path", "p"}};
  deployment["spec"]["template"]["spec"]["volumes"] = {
      {{"name", "v"}, {"configMap", {{"name", "m"}, {"items", json::array({item, item, item})}}}}};

  EXPECT_THAT(Post(Path("apps/v1", "deployments"), deployment).warnings,
              ElementsAre(R"(volume "v" (ConfigMap "m"): overlapping paths: "p" with "p")"));
}

TEST_F(WarningsTest, ManyWarningsAreCut) {
  json deployment = MakeDeployment("a");
  json items = json::array();
  for (int i = 0; i < 20; ++i) items.push_back({{"name", "a"}, {"value", std::string(10, 'x')}});
  deployment["spec"]["template"]["spec"]["containers"][0]["env"] = items;
  deployment["spec"]["template"]["spec"]["volumes"] = {
      {{"name", "v"},
       {"configMap",
        {{"name", "m"},
         {"items", json::array({{{"key", "k"}, {"path", std::string(2000, 'x')}},
                                {{"key", "k"}, {"path", std::string(2000, 'x')}}})}}}}};
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.warnings.size(), 20);
  EXPECT_EQ(response.warnings[0].size(), 256);
}

}  // namespace
}  // namespace kopp::conformance
