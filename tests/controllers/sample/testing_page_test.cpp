#include "deployment_view.hpp"
#include "foo_reconciler.hpp"

#include <atomic>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>

using kopp::Deployment;
using kopp::testing::Environment;
using kopp::testing::FakeClock;
using sample::DeploymentView;
using sample::Foo;
using sample::ReconcileFoo;
using testing::ElementsAre;
using Type = kopp::testing::Fault::Type;

static const kopp::ObjectKey foo{"default", "foo"};
static const kopp::ObjectKey web{"default", "web"};

// Installs the CRD of Foo and creates a Foo that requests the Deployment "web".
static void InstallCrdAndCreateFoo(Environment& env) {
  env.Install(MANIFESTS "/crd-status-subresource.yaml");
  env.client().Create<Foo>({{"metadata", {{"name", "foo"}, {"namespace", "default"}}},
                            {"spec", {{"deploymentName", "web"}, {"replicas", 2}}}});
}

class FooControllerTest : public testing::Test {
 protected:
  FooControllerTest() { InstallCrdAndCreateFoo(env_); }

  Environment env_;
};

TEST_F(FooControllerTest, CreatesTheDeploymentAndThenWritesTheStatus) {
  env_.Reconcile<Foo, DeploymentView>(foo, ReconcileFoo);

  EXPECT_THAT(env_.Writes(),
              ElementsAre("create deployments default/web", "patch foos/status default/foo"));
  EXPECT_EQ(env_.Sent("create deployments default/web")["spec"]["replicas"], 2);
  EXPECT_THAT(env_.Events(), ElementsAre("Normal Synced: Foo synced successfully"));
}

TEST_F(FooControllerTest, DeletingTheFooDeletesItsDeployment) {
  env_.Reconcile<Foo, DeploymentView>(foo, ReconcileFoo);

  env_.client().Delete<Foo>(foo);

  EXPECT_FALSE(env_.client().Get<Deployment>(web));
}

TEST_F(FooControllerTest, RecreatesADeletedDeployment) {
  env_.manager()
      .AddController<Foo>({.workers = 2})
      .Owns<DeploymentView>()
      .Cached()
      .Reconcile(ReconcileFoo);
  env_.Start();
  ASSERT_TRUE(env_.Eventually<Deployment>(web));
  const auto original_uid = env_.client().Get<Deployment>(web)->metadata.uid;

  env_.client().Delete<Deployment>(web);

  EXPECT_TRUE(env_.Eventually<Deployment>(
      web, [&](const Deployment& deployment) { return deployment.metadata.uid != original_uid; }));
}

TEST(FooRequeueTest, RequeueAfterFiveMinutesReconcilesAgain) {
  FakeClock clock;
  std::atomic<int> reconciles = 0;
  Environment env{{.clock = clock}};
  InstallCrdAndCreateFoo(env);
  env.manager().AddController<Foo>().Reconcile([&](const Foo&, kopp::Context&) {
    ++reconciles;
    return kopp::Result{.requeue_after = std::chrono::minutes(5)};
  });
  env.Start();
  clock.AwaitSleeperFor(std::chrono::minutes(5));

  clock.Advance(std::chrono::minutes(5));

  EXPECT_TRUE(env.Eventually([&] { return reconciles == 2; }));
}

TEST_F(FooControllerTest, NextReconcileSucceedsAfterAConflict) {
  env_.server().Inject({.type = Type::kConflict, .verb = "patch", .resource = "foos", .times = 1});

  EXPECT_THROW((env_.Reconcile<Foo, DeploymentView>(foo, ReconcileFoo)), kopp::ApiError);
  env_.Reconcile<Foo, DeploymentView>(foo, ReconcileFoo);

  EXPECT_THAT(env_.Writes(), ElementsAre("create deployments default/web",
                                         "patch foos/status default/foo: 409 Conflict",
                                         "patch foos/status default/foo"));
}

TEST_F(FooControllerTest, RecreatesTheDeploymentAfterAServerRestart) {
  env_.manager().AddController<Foo>().Owns<DeploymentView>().Cached().Reconcile(ReconcileFoo);
  env_.Start();
  ASSERT_TRUE(env_.Eventually<Deployment>(web));

  env_.server().Restart(std::chrono::milliseconds(50));
  env_.client().Delete<Deployment>(web);

  EXPECT_TRUE(env_.Eventually<Deployment>(web));
}

TEST_F(FooControllerTest, AuditLogContainsTheUserOfARequest) {
  const auto transport = env_.server().TransportAs("alice", {"developers"});

  kopp::Client(*transport, "kubectl").Delete<Foo>(foo);

  const auto last_event = env_.server().Requests().back();
  EXPECT_EQ(last_event["verb"], "delete");
  EXPECT_EQ(last_event["user"]["username"], "alice");
}

TEST_F(FooControllerTest, AFooWithoutADeploymentNameIsRejected) {
  env_.manager()
      .AddWebhook<Foo>()
      .Default([](Foo& object) { object.metadata.labels.emplace("app", "sample"); })
      .Validate([](const Foo& object) -> kopp::FieldErrors {
        if (!object.spec.deploymentName.empty()) return {};
        return {kopp::field::Required("spec.deploymentName")};
      });
  env_.ServeWebhooks();

  const auto rename = [&](const std::string& name) {
    return env_.client().Patch<Foo>(foo,
                                    kopp::Patch::Merge({{"spec", {{"deploymentName", name}}}}));
  };
  EXPECT_EQ(rename("other").metadata.labels.at("app"), "sample");
  EXPECT_THROW(rename(""), kopp::ApiError);
}

TEST(FooPermissionsTest, TheOperatorDeclaresWhatItsReconcilerSends) {
  Environment env{{.enforce_permissions = true}};
  env.manager().AddController<Foo>().Owns<DeploymentView>().Cached().Reconcile(ReconcileFoo);
  env.manager().Declare(kopp::PermissionFor(Deployment::kKind, {"create", "update"}));
  env.manager().Declare(kopp::PermissionFor(Foo::kKind, {"patch"}, "status"));
  InstallCrdAndCreateFoo(env);

  env.Reconcile<Foo, DeploymentView>(foo, ReconcileFoo);
}
