// The code of docs/controllers.md.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/framework.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/workqueue/guarded.hpp>

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
  if (!deployment) return {.requeue_after = 5min};  // look again later
  const int available = deployment->status.availableReplicas.value_or(0);
  if (available == 0) return {.backoff = true};  // soon
  context.client.ApplyStatus(foo, Foo::Status{.availableReplicas = available});
  return {};
}

void WriteError(const kopp::ReconcileError& error, kopp::Context& context) {
  const auto foo = context.cache.Get<Foo>(context.key);
  if (!foo || foo->status.message == error.message) return;  // write only changes
  auto status = foo->status;  // an apply removes the fields that it does not contain
  status.message = error.message;
  context.client.ApplyStatus(*foo, status);
}

kopp::Result WriteDns(const Foo& foo, kopp::Context& context) {
  context.client.ApplyStatus(foo, Foo::Status{.availableReplicas = 1});
  return {};
}

kopp::Result WriteCert(const Foo& foo, kopp::Context& context) {
  context.client.ApplyStatus(foo, Foo::Status{.message = "certified"});
  return {};
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

struct Bucket {
  std::string region = {};
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

std::map<kopp::ObjectKey, Bucket> ListBuckets(const std::stop_token& /*stop*/) {
  return {{{"default", "bucket"}, {.region = "eu"}}};
}

kopp::Result ReconcileSlowly(const Foo& foo, kopp::Context& context) {
  context.log.Info("Reconciling", {{"reasons", context.reasons.ToString()}});
  const bool has_bucket = !ListBuckets(context.stop).empty();  // takes minutes
  if (context.Superseded()) return {};  // reconciled once more with the newer Foo
  auto status = foo.status;
  status.message = has_bucket ? "Ready" : "NoBucket";
  context.client.ApplyStatus(foo, status);
  return {};
}

/// The keys that were reconciled. Thread-safe.
class Keys {
 public:
  kopp::Result Add(const kopp::ObjectKey& key) {
    keys_.Lock()->insert(key);
    return {};
  }
  void Await(const kopp::ObjectKey& key) {
    while (!keys_.Lock()->contains(key)) std::this_thread::yield();
  }

 private:
  kopp::detail::Guarded<std::set<kopp::ObjectKey>> keys_;
};

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
    env_.client().Dynamic(kCrd).Create(FooCrd());
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
          .Cached()
          .Reconcile(Reconcile);
  env_.Start();
  CreateFoo("");
  EXPECT_TRUE(Eventually(
      [](const Foo& foo) { return foo.status.message == "spec.deploymentName is empty"; }));

  controller.SetWorkers(8);

  EXPECT_EQ(controller.workers(), 8);
}

TEST_F(ControllersPageTest, APausedObjectIsReconciledAfterItsAnnotationIsRemoved) {
  kopp::ControllerOptions options{.sync_period = 0s,      // no periodic reconcile of all objects
                                  .max_interval = 10min,  // since the last reconcile of each object
                                  .pause_annotation = "example.com/paused"};
  options.on_error = WriteError;
  env_.client().Create<Foo>(json::parse(R"({"metadata":{"name":"foo","namespace":"default",
      "annotations":{"example.com/paused":"true"}},"spec":{"deploymentName":""}})"));
  env_.manager()
      .AddController<Foo>(std::move(options))
      .Owns<kopp::Deployment>()
      .Cached()
      .Reconcile(Reconcile);
  env_.Start();
  env_.client().Patch<Foo>(
      {"default", "foo"},
      kopp::Patch::Merge({{"metadata", {{"annotations", {{"example.com/paused", nullptr}}}}}}));

  EXPECT_TRUE(Eventually([](const Foo& foo) { return !foo.status.message.empty(); }));
}

TEST_F(ControllersPageTest, TwoControllersWriteTheirFieldsOfOneStatus) {
  kopp::Manager& manager = env_.manager();

  manager.AddController<Foo>({.name = "dns"}).Reconcile(WriteDns);  // writes as "operator/dns"
  manager.AddController<Foo>({.name = "cert", .field_manager = "example-cert"})
      .Reconcile(WriteCert);

  kopp::ControllerOptions options{.name = "cert", .former_field_managers = {{"old-operator/cert"}}};

  env_.Start();
  CreateFoo("web");
  EXPECT_TRUE(Eventually([](const Foo& foo) {
    return foo.status.availableReplicas == 1 && foo.status.message == "certified";
  }));
  EXPECT_EQ(options.former_field_managers->size(), 1U);
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

TEST_F(ControllersPageTest, KeysOfAChannelAndOfAPollAreReconciled) {
  kopp::Manager& manager = env_.manager();
  Keys keys;
  const auto reconcile = [&](const kopp::ObjectKey& key, kopp::Context&) { return keys.Add(key); };
  const kopp::Channel<kopp::ObjectKey> channel;
  const auto buckets = std::make_shared<kopp::PollingSource<Bucket>>(
      kopp::PollingOptions{.name = "buckets", .interval = 30s}, ListBuckets);
  manager.AddController<Foo>()
      .WatchesChannel(channel)  // channel.Send({"shop", "web"}) reconciles shop/web
      .Watches(buckets)         // polls every 30 seconds
      .Reconcile(reconcile);
  env_.Start();

  channel.Send({"shop", "web"});

  keys.Await({"shop", "web"});
  keys.Await({"default", "bucket"});
  EXPECT_EQ(buckets->Get({"default", "bucket"}), Bucket{.region = "eu"});
  EXPECT_EQ(env_.Stop(), 0);
}

TEST_F(ControllersPageTest, AWatchThatIsStartedAtRunTimeReconcilesItsKeys) {
  kopp::Manager& manager = env_.manager();
  Keys keys;
  const auto reconcile = [&](const kopp::ObjectKey& key, kopp::Context&) { return keys.Add(key); };
  kopp::Controller& controller =
      manager.AddController<Foo>()
          .Watches<kopp::Pod>({.on_delete =
                                   [](const kopp::Pod& pod, const kopp::EventQueue& queue) {
                                     queue.AddAfter({pod.metadata.ns, "cleanup"}, 10s);
                                   }})
          .Reconcile(reconcile);
  env_.Start();
  env_.client().Create<kopp::ConfigMap>(
      {{"metadata", {{"name", "settings"}, {"namespace", "default"}}}});

  kopp::WatchHandle handle = controller.Watch<kopp::ConfigMap>([](const kopp::ConfigMap& map) {
    return std::vector<kopp::ObjectKey>{{map.metadata.ns, "foo-of-" + map.metadata.name}};
  });

  keys.Await({"default", "foo-of-settings"});
  EXPECT_TRUE(handle.active());
  EXPECT_EQ(env_.Stop(), 0);
}

TEST_F(ControllersPageTest, AReconcileThatIsNotSupersededWritesItsStatus) {
  kopp::ControllerOptions options{.coalesce = {.quiet = 100ms, .max_wait = 1s}, .reasons = true};
  env_.manager().AddController<Foo>(std::move(options)).Reconcile(ReconcileSlowly);
  env_.Start();
  CreateFoo("web");

  EXPECT_TRUE(Eventually([](const Foo& foo) { return foo.status.message == "Ready"; }));
}

}  // namespace
}  // namespace controllers_page
