#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class ScaleTest : public ConformanceTest {
 protected:
  ScaleTest() { made_ = Post(Path("apps/v1", "deployments"), ADeployment("a")); }

  std::string Object() { return Path("apps/v1", "deployments") + "/a"; }
  std::string Scale() { return Object() + "/scale"; }
  static json Replicas(int replicas) {
    return {{"metadata", {{"name", "a"}}}, {"spec", {{"replicas", replicas}}}};
  }

  Answer made_;
};

TEST_F(ScaleTest, ItIsAViewOfTheDeployment) {
  const Answer scale = Get(Scale());

  EXPECT_EQ(scale.status, 200);
  EXPECT_EQ(scale.body, json({{"kind", "Scale"},
                              {"apiVersion", "autoscaling/v1"},
                              {"metadata",
                               {{"name", "a"},
                                {"namespace", ns()},
                                {"uid", made_.str("/metadata/uid")},
                                {"resourceVersion", made_.version()},
                                {"creationTimestamp", made_.str("/metadata/creationTimestamp")}}},
                              {"spec", {{"replicas", 1}}},
                              {"status", {{"replicas", 0}, {"selector", "app=a"}}}}));
}

TEST_F(ScaleTest, AnUpdateSetsTheReplicasAndRaisesTheGeneration) {
  const Answer put = Put(Scale(), Replicas(5));

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/kind"), "Scale");
  EXPECT_EQ(put.at("/spec/replicas"), 5);
  const Answer after = Get(Object());
  EXPECT_EQ(after.at("/spec/replicas"), 5);
  EXPECT_EQ(after.at("/metadata/generation"), 2);
  EXPECT_EQ(after.version(), put.version());
}

TEST_F(ScaleTest, APatchSetsTheReplicas) {
  const Answer patched = MergePatch(Scale(), {{"spec", {{"replicas", 6}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(Get(Object()).at("/spec/replicas"), 6);
}

TEST_F(ScaleTest, NoReplicasAreLeftOut) {
  const Answer put = Put(Scale(), Replicas(0));

  EXPECT_EQ(put.at("/spec"), json::object());
  EXPECT_EQ(Get(Object()).at("/spec/replicas"), 0);
}

TEST_F(ScaleTest, WithoutASpecThereAreNoReplicas) {
  Put(Scale(), AConfigMap("a"));

  EXPECT_EQ(Get(Object()).at("/spec/replicas"), 0);
}

TEST_F(ScaleTest, ItsStatusIsThatOfTheDeployment) {
  MergePatch(Object() + "/status", {{"status", {{"replicas", 3}}}});
  json scale = Replicas(2);
  scale["status"] = {{"replicas", 77}};

  EXPECT_EQ(Put(Scale(), scale).at("/status/replicas"), 3);
}

TEST_F(ScaleTest, AnUpdateChangesNothingElse) {
  json scale = Replicas(1);
  scale["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(Put(Scale(), scale).status, 200);

  const Answer after = Get(Object());
  EXPECT_EQ(after.at("/metadata/labels"), nullptr);
  EXPECT_EQ(after.at("/metadata/generation"), 1);
  EXPECT_EQ(after.at("/spec"), made_.at("/spec"));
}

TEST_F(ScaleTest, AStaleVersionIsAConflict) {
  json scale = Replicas(2);
  scale["metadata"]["resourceVersion"] = "1";
  const Answer put = Put(Scale(), scale);

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

TEST_F(ScaleTest, FewerThanNoneAreInvalid) {
  const Answer put = Put(Scale(), Replicas(-1));

  EXPECT_EQ(put.status, 422);
  EXPECT_EQ(put.at("/details/group"), "autoscaling");
  EXPECT_EQ(put.at("/details/kind"), "Scale");
  EXPECT_THAT(Causes(put), ElementsAre("FieldValueInvalid spec.replicas: Invalid value: -1: must "
                                       "be greater than or equal to 0"));
}

TEST_F(ScaleTest, TheNameInTheBodyMustBeThatOfThePath) {
  const Answer put = Put(Scale(), {{"metadata", {{"name", "b"}}}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(ScaleTest, TheDeploymentItselfIsNoScale) {
  const Answer put = Put(Scale(), made_.body);

  EXPECT_EQ(put.status, 400);
  EXPECT_THAT(put.message(),
              StartsWith(R"(Deployment in version "v1" cannot be handled as a Scale: )"));
}

TEST_F(ScaleTest, OfWhatIsNotThereIsNotFound) {
  const Answer scale = Get(Path("apps/v1", "deployments") + "/none/scale");

  EXPECT_EQ(scale.status, 404);
  EXPECT_EQ(scale.message(), R"(deployments.apps "none" not found)");
}

TEST_F(ScaleTest, ItsSelectorIsAQuery) {
  json deployment = ADeployment("b");
  deployment["spec"]["selector"]["matchExpressions"] =
      R"([{"key": "app", "operator": "In", "values": ["b", "a"]}])"_json;
  Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/b/scale").str("/status/selector"),
            "app=b,app in (a,b)");
}

TEST_F(ScaleTest, AStatefulSetHasOneToo) {
  Post(Path("apps/v1", "statefulsets"), ADeployment("a"));
  MergePatch(Path("apps/v1", "statefulsets") + "/a/scale", {{"spec", {{"replicas", 4}}}});

  EXPECT_EQ(Get(Path("apps/v1", "statefulsets") + "/a").at("/spec/replicas"), 4);
}

}  // namespace
}  // namespace kopp::conformance
