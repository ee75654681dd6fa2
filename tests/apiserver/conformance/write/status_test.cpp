#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Fixture of tests of the status subresource of a Deployment.
class StatusTest : public ConformanceTest {
 protected:
  StatusTest() { created_ = Post(Path("apps/v1", "deployments"), MakeDeployment("a")); }

  std::string ObjectPath() { return Path("apps/v1", "deployments") + "/a"; }
  std::string StatusPath() { return ObjectPath() + "/status"; }

  JsonResponse created_;
};

TEST_F(StatusTest, CreateDropsTheStatus) {
  json deployment = MakeDeployment("b");
  deployment["status"] = {{"replicas", 3}};

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), deployment).at("/status"), json::object());
}

TEST_F(StatusTest, PatchOfTheObjectKeepsTheStatus) {
  MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}});
  const JsonResponse patched =
      MergePatch(ObjectPath(), {{"spec", {{"replicas", 2}}}, {"status", {{"replicas", 99}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 2);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, StatusChangeDoesNotIncreaseTheGeneration) {
  const JsonResponse patched = MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
  EXPECT_GT(std::stoll(patched.resource_version()), std::stoll(created_.resource_version()));
}

TEST_F(StatusTest, StatusUpdateDoesNotChangeTheSpec) {
  json object = created_.body;
  object["spec"]["replicas"] = 7;
  object["status"] = {{"replicas", 3}, {"observedGeneration", 1}};
  const JsonResponse put = Put(StatusPath(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/spec"), created_.at("/spec"));
  EXPECT_EQ(put.at("/status"), object["status"]);
  EXPECT_EQ(put.body, Get(ObjectPath()).body);
}

TEST_F(StatusTest, StatusPatchDoesNotChangeTheSpec) {
  const JsonResponse patched =
      MergePatch(StatusPath(), {{"spec", {{"replicas", 7}}}, {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.at("/spec"), created_.at("/spec"));
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, StatusUpdateDoesNotChangeTheLabels) {
  json object = created_.body;
  object["metadata"]["labels"] = {{"a", "b"}};
  const JsonResponse put = Put(StatusPath(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/metadata/labels"), nullptr);
}

// For a Deployment, a status update ignores only changed labels. Other kinds differ, most of all
// custom resources.
TEST_F(StatusTest, StatusUpdateCanChangeAnnotationsAndFinalizers) {
  json object = created_.body;
  object["metadata"]["annotations"] = {{"a", "b"}};
  object["metadata"]["finalizers"] = {"example.com/x"};
  const JsonResponse put = Put(StatusPath(), object);

  EXPECT_EQ(put.at("/metadata/annotations"), object["metadata"]["annotations"]);
  EXPECT_EQ(put.at("/metadata/finalizers"), object["metadata"]["finalizers"]);
}

TEST_F(StatusTest, StatusUpdateWithoutAStatusClearsIt) {
  MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}});
  const JsonResponse put = Put(StatusPath(), MakeObjectWithName("a"));

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/status"), json::object());
  EXPECT_EQ(put.at("/spec"), created_.at("/spec"));
}

TEST_F(StatusTest, StaleResourceVersionIsAConflict) {
  MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}});
  const JsonResponse put = Put(StatusPath(), created_.body);

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.reason(), "Conflict");
  EXPECT_EQ(put.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

TEST_F(StatusTest, StatusPatchWithoutChangesKeepsTheResourceVersion) {
  const JsonResponse first = MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(MergePatch(StatusPath(), {{"status", {{"replicas", 3}}}}).resource_version(),
            first.resource_version());
}

TEST_F(StatusTest, GetReturnsTheWholeObject) {
  EXPECT_EQ(Get(StatusPath()).body, Get(ObjectPath()).body);
}

TEST_F(StatusTest, StatusOfAMissingDeploymentIsNotFound) {
  const JsonResponse patched =
      MergePatch(Path("apps/v1", "deployments") + "/none/status", {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 404);
  EXPECT_EQ(patched.message(), R"(deployments.apps "none" not found)");
}

TEST_F(StatusTest, NameInTheBodyThatDiffersFromThePathIsABadRequest) {
  const JsonResponse put = Put(StatusPath(), MakeObjectWithName("b"));

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(StatusTest, InconsistentReplicasAreInvalid) {
  const JsonResponse patched = MergePatch(StatusPath(), {{"status", {{"readyReplicas", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched),
              ElementsAre("FieldValueInvalid status.readyReplicas: Invalid value: 5: cannot be "
                          "greater than status.replicas"));
}

TEST_F(StatusTest, JsonPatchCanTestTheNameAndSetTheStatus) {
  const JsonResponse patched = JsonPatch(StatusPath(), R"([
    {"op": "test", "path": "/metadata/name", "value": "a"},
    {"op": "add", "path": "/status/replicas", "value": 3}
  ])"_json);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, StatusPatchOfAPodChangesThePhase) {
  Post(PodsPath(), MakePod("a"));
  const JsonResponse patched =
      MergePatch(Path("pods") + "/a/status", {{"status", {{"phase", "Running"}}}});

  EXPECT_EQ(patched.str("/status/phase"), "Running");
  EXPECT_EQ(patched.str("/status/qosClass"), "BestEffort");
}

/// A kind whose conditions have times that are null until they are set.
struct ConditionKind {
  std::string kind{};
  std::string group_version{};
  std::string plural{};
  json object{};
  std::vector<std::string> times{};

  friend void PrintTo(const ConditionKind& value, std::ostream* out) { *out << value.kind; }
};

class ConditionTimesTest : public ConformanceTest,
                           public ::testing::WithParamInterface<ConditionKind> {};

TEST_P(ConditionTimesTest, OmittedTimesOfAConditionAreNull) {
  const ConditionKind& kind = GetParam();
  const std::string path =
      kind.group_version == "v1" ? Path(kind.plural) : Path(kind.group_version, kind.plural);
  if (kind.plural == "pods") PodsPath();  // creates the ServiceAccount
  ASSERT_EQ(Post(path, kind.object).status, 201);
  json condition{{"type", "T"}, {"status", "True"}};

  const JsonResponse patched =
      MergePatch(path + "/a/status", {{"status", {{"conditions", json::array({condition})}}}});

  for (const std::string& time : kind.times) condition[time] = nullptr;
  EXPECT_EQ(patched.at("/status/conditions"), json::array({condition})) << patched.text;
}

json MakeWorkload(const json& extra_spec = json::object()) {
  json workload = MakeDeployment("a");
  workload["spec"].update(extra_spec);
  return workload;
}

json MakeJob() {
  json pod = MakePod("a")["spec"];
  pod["restartPolicy"] = "Never";
  return {{"metadata", {{"name", "a"}}}, {"spec", {{"template", {{"spec", pod}}}}}};
}

const ConditionKind condition_kinds[] = {
    {"Pod", "v1", "pods", MakePod("a"), {"lastProbeTime", "lastTransitionTime"}},
    {"Deployment",
     "apps/v1",
     "deployments",
     MakeWorkload(),
     {"lastUpdateTime", "lastTransitionTime"}},
    {"ReplicaSet", "apps/v1", "replicasets", MakeWorkload(), {"lastTransitionTime"}},
    {"StatefulSet",
     "apps/v1",
     "statefulsets",
     MakeWorkload({{"serviceName", "a"}}),
     {"lastTransitionTime"}},
    {"DaemonSet", "apps/v1", "daemonsets", MakeWorkload(), {"lastTransitionTime"}},
    {"Job", "batch/v1", "jobs", MakeJob(), {"lastProbeTime", "lastTransitionTime"}},
    {"PersistentVolumeClaim",
     "v1",
     "persistentvolumeclaims",
     R"({"metadata": {"name": "a"}, "spec": {"accessModes": ["ReadWriteOnce"],
         "resources": {"requests": {"storage": "1Gi"}}}})"_json,
     {"lastProbeTime", "lastTransitionTime"}}};
INSTANTIATE_TEST_SUITE_P(, ConditionTimesTest, ::testing::ValuesIn(condition_kinds),
                         [](const auto& kind) { return kind.param.kind; });

TEST_F(StatusTest, OmittedTimesOfANodeConditionAreNull) {
  const std::string name = UniqueName("node");
  json condition{{"type", "T"}, {"status", "True"}};

  const JsonResponse created = Post(
      "/api/v1/nodes",
      {{"metadata", {{"name", name}}}, {"status", {{"conditions", json::array({condition})}}}});

  condition.update({{"lastHeartbeatTime", nullptr}, {"lastTransitionTime", nullptr}});
  EXPECT_EQ(created.at("/status/conditions"), json::array({condition}));
  Delete("/api/v1/nodes/" + name);
}

TEST_F(StatusTest, OmittedTimesOfAContainerStateAreNull) {
  Post(PodsPath(), MakePod("a"));
  const auto set_state = [&](const json& state) {
    const json status{{"name", "nginx"}, {"image", "x"},      {"imageID", ""},
                      {"ready", false},  {"restartCount", 0}, {"state", state}};
    return MergePatch(Path("pods") + "/a/status",
                      {{"status", {{"containerStatuses", json::array({status})}}}})
        .at("/status/containerStatuses/0/state");
  };

  EXPECT_EQ(set_state({{"running", json::object()}}),
            json({{"running", {{"startedAt", nullptr}}}}));
  EXPECT_EQ(
      set_state({{"terminated", {{"exitCode", 1}}}}),
      json({{"terminated", {{"exitCode", 1}, {"startedAt", nullptr}, {"finishedAt", nullptr}}}}));
}

}  // namespace
}  // namespace kopp::conformance
