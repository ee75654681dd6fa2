#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

/// Fixture of tests of the scale subresource of a Deployment.
class ScaleTest : public ConformanceTest {
 protected:
  ScaleTest() { created_ = Post(Path("apps/v1", "deployments"), MakeDeployment("a")); }

  std::string ObjectPath() { return Path("apps/v1", "deployments") + "/a"; }
  std::string ScalePath() { return ObjectPath() + "/scale"; }
  static json MakeScale(int replicas) {
    return {{"metadata", {{"name", "a"}}}, {"spec", {{"replicas", replicas}}}};
  }

  JsonResponse created_;
};

TEST_F(ScaleTest, ScaleShowsTheReplicasAndSelectorOfTheDeployment) {
  const JsonResponse scale = Get(ScalePath());

  EXPECT_EQ(scale.status, 200);
  EXPECT_EQ(scale.body,
            json({{"kind", "Scale"},
                  {"apiVersion", "autoscaling/v1"},
                  {"metadata",
                   {{"name", "a"},
                    {"namespace", ns()},
                    {"uid", created_.str("/metadata/uid")},
                    {"resourceVersion", created_.resource_version()},
                    {"creationTimestamp", created_.str("/metadata/creationTimestamp")}}},
                  {"spec", {{"replicas", 1}}},
                  {"status", {{"replicas", 0}, {"selector", "app=a"}}}}));
}

TEST_F(ScaleTest, UpdateSetsTheReplicasAndIncreasesTheGeneration) {
  const JsonResponse put = Put(ScalePath(), MakeScale(5));

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/kind"), "Scale");
  EXPECT_EQ(put.at("/spec/replicas"), 5);
  const JsonResponse after = Get(ObjectPath());
  EXPECT_EQ(after.at("/spec/replicas"), 5);
  EXPECT_EQ(after.at("/metadata/generation"), 2);
  EXPECT_EQ(after.resource_version(), put.resource_version());
}

TEST_F(ScaleTest, PatchSetsTheReplicas) {
  const JsonResponse patched = MergePatch(ScalePath(), {{"spec", {{"replicas", 6}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(Get(ObjectPath()).at("/spec/replicas"), 6);
}

TEST_F(ScaleTest, ZeroReplicasAreOmittedFromTheResponse) {
  const JsonResponse put = Put(ScalePath(), MakeScale(0));

  EXPECT_EQ(put.at("/spec"), json::object());
  EXPECT_EQ(Get(ObjectPath()).at("/spec/replicas"), 0);
}

TEST_F(ScaleTest, UpdateWithoutASpecSetsTheReplicasToZero) {
  Put(ScalePath(), MakeObjectWithName("a"));

  EXPECT_EQ(Get(ObjectPath()).at("/spec/replicas"), 0);
}

TEST_F(ScaleTest, UpdateIgnoresTheStatusInTheBody) {
  MergePatch(ObjectPath() + "/status", {{"status", {{"replicas", 3}}}});
  json scale = MakeScale(2);
  scale["status"] = {{"replicas", 77}};

  EXPECT_EQ(Put(ScalePath(), scale).at("/status/replicas"), 3);
}

TEST_F(ScaleTest, UpdateChangesOnlyTheReplicas) {
  json scale = MakeScale(1);
  scale["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(Put(ScalePath(), scale).status, 200);

  const JsonResponse after = Get(ObjectPath());
  EXPECT_EQ(after.at("/metadata/labels"), nullptr);
  EXPECT_EQ(after.at("/metadata/generation"), 1);
  EXPECT_EQ(after.at("/spec"), created_.at("/spec"));
}

TEST_F(ScaleTest, StaleResourceVersionIsAConflict) {
  json scale = MakeScale(2);
  scale["metadata"]["resourceVersion"] = "1";
  const JsonResponse put = Put(ScalePath(), scale);

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

TEST_F(ScaleTest, NegativeReplicasAreInvalid) {
  const JsonResponse put = Put(ScalePath(), MakeScale(-1));

  EXPECT_EQ(put.status, 422);
  EXPECT_EQ(put.at("/details/group"), "autoscaling");
  EXPECT_EQ(put.at("/details/kind"), "Scale");
  EXPECT_THAT(Causes(put), ElementsAre("FieldValueInvalid spec.replicas: Invalid value: -1: must "
                                       "be greater than or equal to 0"));
}

TEST_F(ScaleTest, NameInTheBodyThatDiffersFromThePathIsABadRequest) {
  const JsonResponse put = Put(ScalePath(), {{"metadata", {{"name", "b"}}}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(ScaleTest, DeploymentInTheBodyIsABadRequest) {
  const JsonResponse put = Put(ScalePath(), created_.body);

  EXPECT_EQ(put.status, 400);
  EXPECT_THAT(put.message(),
              StartsWith(R"(Deployment in version "v1" cannot be handled as a Scale: )"));
}

TEST_F(ScaleTest, ScaleOfAMissingDeploymentIsNotFound) {
  const JsonResponse scale = Get(Path("apps/v1", "deployments") + "/none/scale");

  EXPECT_EQ(scale.status, 404);
  EXPECT_EQ(scale.message(), R"(deployments.apps "none" not found)");
}

TEST_F(ScaleTest, SelectorInTheStatusIsALabelSelectorString) {
  json deployment = MakeDeployment("b");
  deployment["spec"]["selector"]["matchExpressions"] =
      R"([{"key": "app", "operator": "In", "values": ["b", "a"]}])"_json;
  Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/b/scale").str("/status/selector"),
            "app=b,app in (a,b)");
}

TEST_F(ScaleTest, PatchSetsTheReplicasOfAStatefulSet) {
  Post(Path("apps/v1", "statefulsets"), MakeDeployment("a"));
  MergePatch(Path("apps/v1", "statefulsets") + "/a/scale", {{"spec", {{"replicas", 4}}}});

  EXPECT_EQ(Get(Path("apps/v1", "statefulsets") + "/a").at("/spec/replicas"), 4);
}

}  // namespace
}  // namespace kopp::conformance
