// What one reconcile of a Foo does, against the state that it finds.
#include "foo_environment.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace sample {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kCreate = "create deployments default/web";
constexpr const char* kUpdate = "update deployments default/web";
constexpr const char* kStatus = "patch foos/status default/foo";

class FooReconcilerTest : public FooEnvironment {
 protected:
  using FooEnvironment::FooEnvironment;

  void Reconcile() { env_.Reconcile<Foo, kopp::Deployment>(foo_, ReconcileFoo); }

  /// What one more reconcile writes.
  std::vector<std::string> WritesOfAnother() {
    const auto before = static_cast<std::ptrdiff_t>(env_.Writes().size());
    Reconcile();
    const std::vector<std::string> all = env_.Writes();
    return {all.begin() + before, all.end()};
  }
};

TEST_F(FooReconcilerTest, AFooWithoutADeploymentGetsOneAndThenItsStatus) {
  MakeFoo();
  Reconcile();

  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));
  EXPECT_THAT(env_.Events(), ElementsAre(kSynced));
}

TEST_F(FooReconcilerTest, TheDeploymentIsExactlyWhatTheFooAsksFor) {
  const Foo foo = MakeFoo({{"deploymentName", "web"}, {"replicas", 3}});
  Reconcile();

  json expected = json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
      "metadata":{"name":"web","namespace":"default","ownerReferences":[
        {"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","name":"foo",
         "controller":true,"blockOwnerDeletion":true}]},
      "spec":{"replicas":3,
        "selector":{"matchLabels":{"app":"nginx","controller":"foo"}},
        "template":{"metadata":{"labels":{"app":"nginx","controller":"foo"}},
                    "spec":{"containers":[{"name":"nginx","image":"nginx:latest"}]}}}})");
  expected["metadata"]["ownerReferences"][0]["uid"] = foo.metadata.uid;
  EXPECT_EQ(env_.Sent(kCreate), expected);
}

TEST_F(FooReconcilerTest, AFooThatSaysNoReplicasLeavesThemToTheServer) {
  MakeFoo({{"deploymentName", "web"}});
  Reconcile();

  EXPECT_FALSE(env_.Sent(kCreate)["spec"].contains("replicas"));
  EXPECT_EQ(Web()->spec.replicas, 1);
}

TEST_F(FooReconcilerTest, AFooThatSaysNoReplicasLeavesWhatAnotherSetThem) {
  MakeFoo({{"deploymentName", "web"}});
  Reconcile();
  env_.client().Patch<kopp::Deployment>(web_, kopp::Patch::Merge({{"spec", {{"replicas", 5}}}}));

  EXPECT_THAT(WritesOfAnother(), IsEmpty());
  EXPECT_EQ(Web()->spec.replicas, 5);
}

TEST_F(FooReconcilerTest, WhatStandsAlreadyIsNotWrittenAgain) {
  MakeFoo();
  Reconcile();

  EXPECT_THAT(WritesOfAnother(), IsEmpty());
  EXPECT_THAT(env_.Events(), ElementsAre(kSynced, kSynced));
}

TEST_F(FooReconcilerTest, TheStatusFollowsTheDeploymentsAndHoldsForThisVeryFoo) {
  const Foo foo = MakeFoo();
  Reconcile();
  SayAvailable(1);

  EXPECT_THAT(WritesOfAnother(), ElementsAre(kStatus));
  EXPECT_EQ(
      env_.Sent(kStatus),
      json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", foo.metadata.uid}},
                   {{"op", "add"}, {"path", "/status"}, {"value", {{"availableReplicas", 1}}}}}));
  EXPECT_EQ(env_.client().Get<Foo>(foo_)->status.availableReplicas, 1);
}

TEST_F(FooReconcilerTest, AnotherNumberOfReplicasIsWrittenAsAWholeDeployment) {
  MakeFoo();
  Reconcile();
  Scale(2);

  EXPECT_THAT(WritesOfAnother(), ElementsAre(kUpdate));
  EXPECT_EQ(env_.Sent(kUpdate)["spec"]["replicas"], 2);
  EXPECT_FALSE(env_.Sent(kUpdate)["metadata"].contains("resourceVersion"));
  EXPECT_EQ(Web()->spec.replicas, 2);
}

TEST_F(FooReconcilerTest, AnotherNameMakesAnotherDeploymentAndLeavesTheFirst) {
  MakeFoo();
  Reconcile();
  env_.client().Patch<Foo>(foo_, kopp::Patch::Merge({{"spec", {{"deploymentName", "shop"}}}}));

  EXPECT_THAT(WritesOfAnother(), ElementsAre("create deployments default/shop"));
  EXPECT_TRUE(Web());
}

TEST_F(FooReconcilerTest, AForeignDeploymentIsLeftAloneAndAnEventSaysSo) {
  MakeFoo();
  Reconcile();
  env_.client().Patch<kopp::Deployment>(
      web_, kopp::Patch::Merge({{"metadata", {{"ownerReferences", nullptr}}}}));
  Scale(2);

  EXPECT_THROW(Reconcile(), std::runtime_error);

  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));
  EXPECT_EQ(env_.Events().back(),
            "Warning ErrResourceExists: Resource \"web\" already exists and is not managed by Foo");
}

TEST_F(FooReconcilerTest, TheDeploymentOfANamesakeThatCameBeforeIsForeignUntilItIsGone) {
  MakeFoo();
  Reconcile();
  const auto set_finalizers = [&](const json& finalizers) {
    env_.client().Patch<kopp::Deployment>(
        web_, kopp::Patch::Merge({{"metadata", {{"finalizers", finalizers}}}}));
  };
  set_finalizers({"example.com/slow"});
  env_.client().Delete<Foo>(foo_);
  MakeFoo();

  EXPECT_THROW(Reconcile(), std::runtime_error);
  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));

  set_finalizers(nullptr);
  EXPECT_THAT(WritesOfAnother(), ElementsAre(kCreate, kStatus));
}

TEST_F(FooReconcilerTest, WithTheFooItsDeploymentGoes) {
  MakeFoo();
  Reconcile();
  env_.client().Delete<Foo>(foo_);

  EXPECT_FALSE(Web());
  EXPECT_THAT(WritesOfAnother(), IsEmpty());
}

TEST_F(FooReconcilerTest, AFooThatNamesNoDeploymentIsNotTriedAgain) {
  MakeFoo({{"replicas", 1}});

  EXPECT_NO_THROW(Reconcile());

  EXPECT_THAT(env_.Writes(), IsEmpty());
  EXPECT_THAT(env_.Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, ADeploymentThatTheCacheDoesNotKnowYetIsTriedAgain) {
  MakeFoo();
  env_.server().Inject({.what = What::kConflict, .verb = "create", .resource = "deployments"});

  EXPECT_THROW(Reconcile(), kopp::ApiError);

  EXPECT_THAT(env_.Writes(), ElementsAre(std::string(kCreate) + ": 409 AlreadyExists"));
  EXPECT_THAT(env_.Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, AStatusThatIsInConflictIsTriedAgain) {
  MakeFoo();
  env_.server().Inject({.what = What::kConflict, .verb = "patch", .resource = "foos", .times = 1});

  EXPECT_THROW(Reconcile(), kopp::ApiError);
  EXPECT_THAT(env_.Events(), IsEmpty());

  EXPECT_THAT(WritesOfAnother(), ElementsAre(kStatus));
}

TEST_F(FooReconcilerTest, AFooThatWasMadeAnewMeanwhileGetsNoStatusOfTheOneBefore) {
  MakeFoo();
  const auto late = [&](const Foo& foo, kopp::Context& context) {
    env_.client().Delete<Foo>(foo_);
    MakeFoo();
    return ReconcileFoo(foo, context);
  };

  EXPECT_THROW((env_.Reconcile<Foo, kopp::Deployment>(foo_, late)), kopp::ApiError);

  EXPECT_EQ(env_.Writes().back(), std::string(kStatus) + ": 422 Invalid");
  EXPECT_EQ(env_.client().Get<Foo>(foo_)->status.availableReplicas, std::nullopt);
}

TEST_F(FooReconcilerTest, AFooOutOfBoundsIsRefusedByTheServer) {
  try {
    MakeFoo({{"deploymentName", "web"}, {"replicas", 11}});
    FAIL() << "it was taken";
  } catch (const kopp::ApiError& error) {
    EXPECT_TRUE(error.IsInvalid()) << error.what();
  }
}

/// The kind without its status subresource.
class FooWithoutStatusTest : public FooReconcilerTest {
 protected:
  FooWithoutStatusTest() : FooReconcilerTest("crd.yaml") {}
};

TEST_F(FooWithoutStatusTest, AStatusThatCannotBeWrittenForWantOfItsPathIsSaidAndTriedAgain) {
  MakeFoo();

  try {
    Reconcile();
    FAIL() << "it returned";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("install crd-status-subresource.yaml"));
  }
  EXPECT_THAT(env_.Events(), IsEmpty());
}

}  // namespace
}  // namespace sample
