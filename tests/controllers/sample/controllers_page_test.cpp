// The code of docs/controllers.md.
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/framework.hpp>
#include <kopp/testing/environment.hpp>

namespace controllers_page {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

struct Foo {
  static constexpr kopp::Kind kKind{"example.com/v1", "Foo", "foos"};
  struct Spec {
    std::string deploymentName = {};
  };
  struct Status {
    std::optional<int> availableReplicas = {};
    std::string message = {};
  };
  kopp::ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(Foo::Spec, deploymentName)
KOPP_FIELDS(Foo::Status, availableReplicas, message)
KOPP_FIELDS(Foo, metadata, spec, status)

kopp::Result Reconcile(const Foo& foo, kopp::Context& context) {
  if (foo.spec.deploymentName.empty()) throw kopp::TerminalError("spec.deploymentName is empty");
  const auto deployment =
      context.cache.Get<kopp::Deployment>({foo.metadata.ns, foo.spec.deploymentName});
  if (!deployment) return {.requeue_after = 5min};                          // look again later
  if (deployment->status.availableReplicas == 0) return {.backoff = true};  // soon
  context.client.ApplyStatus(foo, {.availableReplicas = deployment->status.availableReplicas});
  return {};
}

void WriteError(const kopp::ReconcileError& error, kopp::Context& context) {
  const auto foo = context.cache.Get<Foo>(context.key);
  if (!foo || foo->status.message == error.message) return;  // write only changes
  context.client.ApplyStatus(*foo, {.message = error.message});
}

kopp::Result EnsureMachine(const kopp::ObjectKey& key, kopp::Expectations& expectations,
                           const std::function<void()>& create_machine) {
  if (!expectations.Satisfied(key)) return {.requeue_after = 10s};  // not visible yet
  expectations.Expect(key, {.creations = 1});
  try {
    create_machine();  // the code that sees the machine calls expectations.CreationObserved(key)
  } catch (...) {
    expectations.CreationObserved(key);  // it will not come
    throw;
  }
  return {};
}

json FooCrd() {
  return json::parse(R"({"metadata":{"name":"foos.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced",
      "names":{"plural":"foos","singular":"foo","kind":"Foo","listKind":"FooList"},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object",
          "x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

class ControllersPageTest : public testing::Test {
 protected:
  ControllersPageTest() {
    constexpr kopp::Kind kCrd{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                              "customresourcedefinitions", kopp::Scope::kCluster};
    env_.client().Create(kCrd, FooCrd());
  }
  void CreateFoo(const std::string& deployment_name) {
    env_.client().Create<Foo>({{"metadata", {{"name", "foo"}, {"namespace", "default"}}},
                               {"spec", {{"deploymentName", deployment_name}}}});
  }
  bool Eventually(const std::function<bool(const Foo&)>& condition) {
    return static_cast<bool>(env_.Eventually<Foo>({"default", "foo"}, condition));
  }

  kopp::testing::Environment env_;
};

TEST_F(ControllersPageTest, AFailureIsWrittenToTheStatus) {
  kopp::Manager& manager = env_.manager();
  kopp::Controller& controller =
      manager.AddController<Foo>({.workers = 2, .reconcile_timeout = 2min, .on_error = WriteError})
          .Owns<kopp::Deployment>()
          .Reconcile(Reconcile);
  env_.Start();
  CreateFoo("");
  EXPECT_TRUE(Eventually(
      [](const Foo& foo) { return foo.status.message == "spec.deploymentName is empty"; }));

  controller.SetWorkers(8);

  EXPECT_EQ(controller.workers(), 8);
}

TEST_F(ControllersPageTest, APausedObjectIsReconciledAfterItsAnnotationIsRemoved) {
  kopp::ControllerOptions options{.resync = 0s,           // no periodic reconcile of all objects
                                  .max_interval = 10min,  // since the last reconcile of each object
                                  .pause_annotation = "example.com/paused"};
  options.on_error = WriteError;
  env_.client().Create<Foo>(json::parse(R"({"metadata":{"name":"foo","namespace":"default",
      "annotations":{"example.com/paused":"true"}},"spec":{"deploymentName":""}})"));
  env_.manager()
      .AddController<Foo>(std::move(options))
      .Owns<kopp::Deployment>()
      .Reconcile(Reconcile);
  env_.Start();
  env_.client().Patch<Foo>(
      {"default", "foo"},
      kopp::Patch::Merge({{"metadata", {{"annotations", {{"example.com/paused", nullptr}}}}}}));

  EXPECT_TRUE(Eventually([](const Foo& foo) { return !foo.status.message.empty(); }));
}

TEST_F(ControllersPageTest, AMachineIsNotCreatedAgainBeforeItWasObserved) {
  kopp::Expectations expectations;
  const kopp::ObjectKey key{"default", "foo"};
  int created = 0;
  const auto create = [&] { ++created; };
  EnsureMachine(key, expectations, create);
  EXPECT_EQ(EnsureMachine(key, expectations, create).requeue_after, 10s);
  EXPECT_EQ(created, 1);

  expectations.CreationObserved(key);
  const auto fail = [] { throw std::runtime_error("quota exceeded"); };
  EXPECT_THROW(EnsureMachine(key, expectations, fail), std::runtime_error);
  EnsureMachine(key, expectations, create);

  EXPECT_EQ(created, 2);
}

}  // namespace
}  // namespace controllers_page
