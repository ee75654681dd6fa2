// The controller at work, as in a cluster.
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
        .Owns<Deployment>()
        .Reconcile(ReconcileFoo);
  }

  /// Waits until the Foo is served, and the status that says so is written.
  void StartWithAFoo() {
    env_.Start();
    MakeFoo();
    ASSERT_TRUE(env_.Eventually<Foo>(
        foo_, [](const Foo& foo) { return foo.status.availableReplicas == 0; }));
  }
  auto WebHas(int replicas) {
    return env_.Eventually<Deployment>(
        web_, [=](const Deployment& web) { return web.spec.replicas == replicas; });
  }
};

TEST_F(FooOperatorTest, AFooGetsItsDeployment) {
  StartWithAFoo();

  EXPECT_TRUE(WebHas(1));
  EXPECT_TRUE(env_.Eventually([&] { return Value(env_.Events(), Contains(kSynced)); }));
}

TEST_F(FooOperatorTest, AFooThatWasThereBeforeGetsItToo) {
  MakeFoo();
  env_.Start();

  EXPECT_TRUE(WebHas(1));
}

TEST_F(FooOperatorTest, TheDeploymentIsScaledWithTheFoo) {
  StartWithAFoo();

  Scale(3);

  EXPECT_TRUE(WebHas(3));
}

TEST_F(FooOperatorTest, ADeploymentThatIsDeletedIsMadeAnew) {
  StartWithAFoo();
  const auto first = Web();

  env_.client().Delete<Deployment>(web_);

  EXPECT_TRUE(env_.Eventually<Deployment>(
      web_, [&](const Deployment& web) { return web.metadata.uid != first->metadata.uid; }));
}

TEST_F(FooOperatorTest, AReplicaThatIsAvailableIsToldByTheFoo) {
  StartWithAFoo();

  SayAvailable(1);

  EXPECT_TRUE(
      env_.Eventually<Foo>(foo_, [](const Foo& foo) { return foo.status.availableReplicas == 1; }));
}

TEST_F(FooOperatorTest, WithTheFooItsDeploymentGoesForGood) {
  StartWithAFoo();

  env_.client().Delete<Foo>(foo_);

  EXPECT_TRUE(env_.EventuallyGone<Deployment>(web_));
  EXPECT_EQ(env_.Stop(), 0);
  EXPECT_FALSE(Web());
}

TEST_F(FooOperatorTest, OnceAForeignDeploymentIsAwayTheFooGetsItsOwn) {
  env_.client().Create<Deployment>(nlohmann::json::parse(R"({
      "metadata":{"name":"web","namespace":"default"},
      "spec":{"selector":{"matchLabels":{"app":"x"}},
              "template":{"metadata":{"labels":{"app":"x"}},
                          "spec":{"containers":[{"name":"x","image":"x"}]}}}})"));
  env_.Start();
  const Foo foo = MakeFoo();
  ASSERT_TRUE(env_.Eventually([&] { return !env_.Events().empty(); }));

  env_.client().Delete<Deployment>(web_);

  EXPECT_TRUE(env_.Eventually<Deployment>(
      web_, [&](const Deployment& web) { return kopp::IsControlledBy(web, foo); }));
}

TEST_F(FooOperatorTest, ItGetsThereInSpiteOfAllThatFailsOnTheWay) {
  auto& server = env_.server();
  server.Inject({.what = What::kServerError,
                 .verb = "create",
                 .resource = "deployments",
                 .times = 2,
                 .status = 503});
  server.Inject({.what = What::kReset, .verb = "update", .resource = "deployments", .times = 1});
  server.Inject({.what = What::kConflict, .verb = "patch", .resource = "foos", .times = 2});
  StartWithAFoo();

  server.Restart();
  Scale(2);

  EXPECT_TRUE(WebHas(2));
}

}  // namespace
}  // namespace sample
