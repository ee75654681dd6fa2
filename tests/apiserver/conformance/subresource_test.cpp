#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// The status of a Deployment.
class StatusTest : public ConformanceTest {
 protected:
  StatusTest() { made_ = Post(Path("apps/v1", "deployments"), ADeployment("a")); }

  std::string Object() { return Path("apps/v1", "deployments") + "/a"; }
  std::string Status() { return Object() + "/status"; }

  Answer made_;
};

TEST_F(StatusTest, ACreateDropsIt) {
  json deployment = ADeployment("b");
  deployment["status"] = {{"replicas", 3}};

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), deployment).at("/status"), json::object());
}

TEST_F(StatusTest, AnUpdateOfTheObjectKeepsItAsItIs) {
  MergePatch(Status(), {{"status", {{"replicas", 3}}}});
  const Answer patched =
      MergePatch(Object(), {{"spec", {{"replicas", 2}}}, {"status", {{"replicas", 99}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 2);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, ANewStatusIsNoNewGeneration) {
  const Answer patched = MergePatch(Status(), {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
  EXPECT_GT(std::stoll(patched.version()), std::stoll(made_.version()));
}

TEST_F(StatusTest, AnUpdateOfItChangesNothingOfTheSpec) {
  json object = made_.body;
  object["spec"]["replicas"] = 7;
  object["status"] = {{"replicas", 3}, {"observedGeneration", 1}};
  const Answer put = Put(Status(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/spec"), made_.at("/spec"));
  EXPECT_EQ(put.at("/status"), object["status"]);
  EXPECT_EQ(put.body, Get(Object()).body);
}

TEST_F(StatusTest, APatchOfItChangesNothingOfTheSpec) {
  const Answer patched =
      MergePatch(Status(), {{"spec", {{"replicas", 7}}}, {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.at("/spec"), made_.at("/spec"));
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, AnUpdateOfItKeepsTheLabels) {
  json object = made_.body;
  object["metadata"]["labels"] = {{"a", "b"}};
  const Answer put = Put(Status(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/metadata/labels"), nullptr);
}

// Deployments keep no more than their labels: other kinds differ here, custom resources most.
TEST_F(StatusTest, AnUpdateOfItMayChangeAnnotationsAndFinalizers) {
  json object = made_.body;
  object["metadata"]["annotations"] = {{"a", "b"}};
  object["metadata"]["finalizers"] = {"example.com/x"};
  const Answer put = Put(Status(), object);

  EXPECT_EQ(put.at("/metadata/annotations"), object["metadata"]["annotations"]);
  EXPECT_EQ(put.at("/metadata/finalizers"), object["metadata"]["finalizers"]);
}

TEST_F(StatusTest, AnUpdateWithoutOneClearsIt) {
  MergePatch(Status(), {{"status", {{"replicas", 3}}}});
  const Answer put = Put(Status(), AConfigMap("a"));

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/status"), json::object());
  EXPECT_EQ(put.at("/spec"), made_.at("/spec"));
}

TEST_F(StatusTest, AStaleVersionIsAConflict) {
  MergePatch(Status(), {{"status", {{"replicas", 3}}}});
  const Answer put = Put(Status(), made_.body);

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.reason(), "Conflict");
  EXPECT_EQ(put.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

TEST_F(StatusTest, WhatChangesNothingKeepsTheVersion) {
  const Answer first = MergePatch(Status(), {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(MergePatch(Status(), {{"status", {{"replicas", 3}}}}).version(), first.version());
}

TEST_F(StatusTest, AGetOfItIsTheWholeObject) { EXPECT_EQ(Get(Status()).body, Get(Object()).body); }

TEST_F(StatusTest, OfWhatIsNotThereIsNotFound) {
  const Answer patched =
      MergePatch(Path("apps/v1", "deployments") + "/none/status", {{"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 404);
  EXPECT_EQ(patched.message(), R"(deployments.apps "none" not found)");
}

TEST_F(StatusTest, TheNameInTheBodyMustBeThatOfThePath) {
  const Answer put = Put(Status(), AConfigMap("b"));

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(StatusTest, ABadOneIsInvalid) {
  const Answer patched = MergePatch(Status(), {{"status", {{"readyReplicas", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched),
              ElementsAre("FieldValueInvalid status.readyReplicas: Invalid value: 5: cannot be "
                          "greater than status.replicas"));
}

TEST_F(StatusTest, AJsonPatchMayTestAndSetIt) {
  const Answer patched = JsonPatch(Status(), R"([
    {"op": "test", "path": "/metadata/name", "value": "a"},
    {"op": "add", "path": "/status/replicas", "value": 3}
  ])"_json);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
}

TEST_F(StatusTest, APodsIsChangedLikewise) {
  Post(Pods(), APod("a"));
  const Answer patched =
      MergePatch(Path("pods") + "/a/status", {{"status", {{"phase", "Running"}}}});

  EXPECT_EQ(patched.str("/status/phase"), "Running");
  EXPECT_EQ(patched.str("/status/qosClass"), "BestEffort");
}

}  // namespace
}  // namespace kopp::conformance
