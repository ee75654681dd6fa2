// Tests of the running controller, with manager, cache and workers.
#include "foo_environment.hpp"

#include <gmock/gmock.h>

#include <kopp/owner.hpp>

namespace sample {
namespace {

using kopp::Deployment;
using ::testing::Contains;
using ::testing::Value;

class FooOperatorTest : public FooEnvironment {
 protected:
  FooOperatorTest() {
    env_.manager()
        .AddController<Foo>({.name = "foo", .workers = 2})
        .Owns<DeploymentView>()
        .Cached()
        .Reconcile(ReconcileFoo);
  }

  /// Starts the operator with a Foo, and waits until its status is written.
  void StartWithFoo() {
    env_.Start();
    CreateFoo();
    ASSERT_TRUE(env_.Eventually<Foo>(
        foo_, [](const Foo& foo) { return foo.status.availableReplicas == 0; }));
  }
  auto EventuallyWebHasReplicas(int replicas) {
    return env_.Eventually<Deployment>(
        web_, [=](const Deployment& web) { return web.spec.replicas == replicas; });
  }
};

TEST_F(FooOperatorTest, CreatesTheDeploymentOfANewFoo) {
  StartWithFoo();

  EXPECT_TRUE(EventuallyWebHasReplicas(1));
  EXPECT_TRUE(env_.Eventually([&] { return Value(env_.Events(), Contains(kSynced)); }));
}

TEST_F(FooOperatorTest, CreatesTheDeploymentOfAFooThatExistsBeforeTheStart) {
  CreateFoo();
  env_.Start();

  EXPECT_TRUE(EventuallyWebHasReplicas(1));
}

TEST_F(FooOperatorTest, ScalesTheDeploymentWhenTheFooIsScaled) {
  StartWithFoo();

  ScaleFoo(3);

  EXPECT_TRUE(EventuallyWebHasReplicas(3));
}

TEST_F(FooOperatorTest, RecreatesADeletedDeployment) {
  StartWithFoo();
  const auto original = GetWeb();

  env_.client().Delete<Deployment>(web_);

  EXPECT_TRUE(env_.Eventually<Deployment>(
      web_, [&](const Deployment& web) { return web.metadata.uid != original->metadata.uid; }));
}

TEST_F(FooOperatorTest, WritesAvailableReplicasToTheFooStatus) {
  StartWithFoo();

  SetAvailableReplicas(1);

  EXPECT_TRUE(
      env_.Eventually<Foo>(foo_, [](const Foo& foo) { return foo.status.availableReplicas == 1; }));
}

TEST_F(FooOperatorTest, DoesNotRecreateTheDeploymentOfADeletedFoo) {
  StartWithFoo();

  env_.client().Delete<Foo>(foo_);

  EXPECT_TRUE(env_.EventuallyGone<Deployment>(web_));
  EXPECT_EQ(env_.Stop(), 0);
  EXPECT_FALSE(GetWeb());
}

TEST_F(FooOperatorTest, CreatesTheDeploymentAfterAForeignOneIsDeleted) {
  env_.client().Create<Deployment>(nlohmann::json::parse(R"({
      "metadata":{"name":"web","namespace":"default"},
      "spec":{"selector":{"matchLabels":{"app":"x"}},
              "template":{"metadata":{"labels":{"app":"x"}},
                          "spec":{"containers":[{"name":"x","image":"x"}]}}}})"));
  env_.Start();
  const Foo foo = CreateFoo();
  ASSERT_TRUE(env_.Eventually([&] { return !env_.Events().empty(); }));

  env_.client().Delete<Deployment>(web_);

  EXPECT_TRUE(env_.Eventually<Deployment>(
      web_, [&](const Deployment& web) { return kopp::IsControlledBy(web, foo); }));
}

TEST_F(FooOperatorTest, ScalesTheDeploymentDespiteFaultsAndAServerRestart) {
  auto& server = env_.server();
  server.Inject({.type = Type::kServerError,
                 .verb = "create",
                 .resource = "deployments",
                 .times = 2,
                 .status = 503});
  server.Inject({.type = Type::kReset, .verb = "update", .resource = "deployments", .times = 1});
  server.Inject({.type = Type::kConflict, .verb = "patch", .resource = "foos", .times = 2});
  StartWithFoo();

  server.Restart();
  ScaleFoo(2);

  EXPECT_TRUE(EventuallyWebHasReplicas(2));
}

}  // namespace
}  // namespace sample
