// Tests of single reconciles of a Foo.
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

  void Reconcile() { env_.Reconcile<Foo, DeploymentView>(foo_, ReconcileFoo); }

  /// Reconciles again and returns only the writes of that reconcile.
  std::vector<std::string> WritesOfNextReconcile() {
    const auto previous_writes = static_cast<std::ptrdiff_t>(env_.Writes().size());
    Reconcile();
    const std::vector<std::string> all = env_.Writes();
    return {all.begin() + previous_writes, all.end()};
  }
};

TEST_F(FooReconcilerTest, CreatesTheDeploymentAndThenWritesTheStatus) {
  CreateFoo();
  Reconcile();

  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));
  EXPECT_THAT(env_.Events(), ElementsAre(kSynced));
}

TEST_F(FooReconcilerTest, SendsTheExpectedDeploymentManifest) {
  const Foo foo = CreateFoo({{"deploymentName", "web"}, {"replicas", 3}});
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

TEST_F(FooReconcilerTest, OmitsReplicasIfTheFooHasNone) {
  CreateFoo({{"deploymentName", "web"}});
  Reconcile();

  EXPECT_FALSE(env_.Sent(kCreate)["spec"].contains("replicas"));
  EXPECT_EQ(GetWeb()->spec.replicas, 1);
}

TEST_F(FooReconcilerTest, KeepsReplicasSetByAnotherClientIfTheFooHasNone) {
  CreateFoo({{"deploymentName", "web"}});
  Reconcile();
  env_.client().Patch<kopp::Deployment>(web_, kopp::Patch::Merge({{"spec", {{"replicas", 5}}}}));

  EXPECT_THAT(WritesOfNextReconcile(), IsEmpty());
  EXPECT_EQ(GetWeb()->spec.replicas, 5);
}

TEST_F(FooReconcilerTest, WritesNothingIfNothingChanged) {
  CreateFoo();
  Reconcile();

  EXPECT_THAT(WritesOfNextReconcile(), IsEmpty());
  EXPECT_THAT(env_.Events(), ElementsAre(kSynced, kSynced));
}

TEST_F(FooReconcilerTest, WritesAvailableReplicasWithAUidTest) {
  const Foo foo = CreateFoo();
  Reconcile();
  SetAvailableReplicas(1);

  EXPECT_THAT(WritesOfNextReconcile(), ElementsAre(kStatus));
  EXPECT_EQ(
      env_.Sent(kStatus),
      json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", foo.metadata.uid}},
                   {{"op", "add"}, {"path", "/status"}, {"value", {{"availableReplicas", 1}}}}}));
  EXPECT_EQ(env_.client().Get<Foo>(foo_)->status.availableReplicas, 1);
}

TEST_F(FooReconcilerTest, UpdatesTheWholeDeploymentWhenReplicasChange) {
  CreateFoo();
  Reconcile();
  ScaleFoo(2);

  EXPECT_THAT(WritesOfNextReconcile(), ElementsAre(kUpdate));
  EXPECT_EQ(env_.Sent(kUpdate)["spec"]["replicas"], 2);
  EXPECT_FALSE(env_.Sent(kUpdate)["metadata"].contains("resourceVersion"));
  EXPECT_EQ(GetWeb()->spec.replicas, 2);
}

TEST_F(FooReconcilerTest, CreatesASecondDeploymentWhenDeploymentNameChanges) {
  CreateFoo();
  Reconcile();
  env_.client().Patch<Foo>(foo_, kopp::Patch::Merge({{"spec", {{"deploymentName", "shop"}}}}));

  EXPECT_THAT(WritesOfNextReconcile(), ElementsAre("create deployments default/shop"));
  EXPECT_TRUE(GetWeb());
}

TEST_F(FooReconcilerTest, EmitsAWarningAndKeepsADeploymentOfAnotherOwner) {
  CreateFoo();
  Reconcile();
  env_.client().Patch<kopp::Deployment>(
      web_, kopp::Patch::Merge({{"metadata", {{"ownerReferences", nullptr}}}}));
  ScaleFoo(2);

  EXPECT_THROW(Reconcile(), std::runtime_error);

  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));
  EXPECT_EQ(env_.Events().back(),
            "Warning ErrResourceExists: Resource \"web\" already exists and is not managed by Foo");
}

TEST_F(FooReconcilerTest, RecreatedFooWaitsUntilTheDeploymentOfTheDeletedFooIsGone) {
  CreateFoo();
  Reconcile();
  const auto set_finalizers = [&](const json& finalizers) {
    env_.client().Patch<kopp::Deployment>(
        web_, kopp::Patch::Merge({{"metadata", {{"finalizers", finalizers}}}}));
  };
  set_finalizers({"example.com/slow"});
  env_.client().Delete<Foo>(foo_);
  CreateFoo();

  EXPECT_THROW(Reconcile(), std::runtime_error);
  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));

  set_finalizers(nullptr);
  EXPECT_THAT(WritesOfNextReconcile(), ElementsAre(kCreate, kStatus));
}

TEST_F(FooReconcilerTest, DeploymentIsDeletedWithTheFooAndNotRecreated) {
  CreateFoo();
  Reconcile();
  env_.client().Delete<Foo>(foo_);

  EXPECT_FALSE(GetWeb());
  env_.ReconcileDeleted<Foo, DeploymentView>(foo_, ReconcileFoo);
  EXPECT_THAT(env_.Writes(), ElementsAre(kCreate, kStatus));
}

TEST_F(FooReconcilerTest, FooWithoutDeploymentNameIsNotRetried) {
  CreateFoo({{"replicas", 1}});

  EXPECT_NO_THROW(Reconcile());

  EXPECT_THAT(env_.Writes(), IsEmpty());
  EXPECT_THAT(env_.Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, ThrowsIfTheDeploymentExistsButIsNotInTheCache) {
  CreateFoo();
  env_.server().Inject({.type = Type::kConflict, .verb = "create", .resource = "deployments"});

  EXPECT_THROW(Reconcile(), kopp::ApiError);

  EXPECT_THAT(env_.Writes(), ElementsAre(std::string(kCreate) + ": 409 AlreadyExists"));
  EXPECT_THAT(env_.Events(), IsEmpty());
}

TEST_F(FooReconcilerTest, StatusConflictThrowsAndTheNextReconcileSucceeds) {
  CreateFoo();
  env_.server().Inject({.type = Type::kConflict, .verb = "patch", .resource = "foos", .times = 1});

  EXPECT_THROW(Reconcile(), kopp::ApiError);
  EXPECT_THAT(env_.Events(), IsEmpty());

  EXPECT_THAT(WritesOfNextReconcile(), ElementsAre(kStatus));
}

TEST_F(FooReconcilerTest, DoesNotWriteTheStatusOfADeletedFooToItsReplacement) {
  CreateFoo();
  const auto reconcile_after_recreation = [&](const Foo& foo, kopp::Context& context) {
    env_.client().Delete<Foo>(foo_);
    CreateFoo();
    return ReconcileFoo(foo, context);
  };

  EXPECT_THROW((env_.Reconcile<Foo, DeploymentView>(foo_, reconcile_after_recreation)),
               kopp::ApiError);

  EXPECT_EQ(env_.Writes().back(), std::string(kStatus) + ": 422 Invalid");
  EXPECT_EQ(env_.client().Get<Foo>(foo_)->status.availableReplicas, std::nullopt);
}

TEST_F(FooReconcilerTest, ServerRejectsReplicasAboveTheMaximum) {
  try {
    CreateFoo({{"deploymentName", "web"}, {"replicas", 11}});
    FAIL() << "the server accepted 11 replicas";
  } catch (const kopp::ApiError& error) {
    EXPECT_TRUE(error.IsInvalid()) << error.what();
  }
}

/// Installs the CRD without the status subresource.
class FooWithoutStatusTest : public FooReconcilerTest {
 protected:
  FooWithoutStatusTest() : FooReconcilerTest("crd.yaml") {}
};

TEST_F(FooWithoutStatusTest, ThrowsAnErrorThatNamesTheCrdToInstall) {
  CreateFoo();

  try {
    Reconcile();
    FAIL() << "ReconcileFoo did not throw";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("install crd-status-subresource.yaml"));
  }
  EXPECT_THAT(env_.Events(), IsEmpty());
}

}  // namespace
}  // namespace sample
