// Tests of watches at run time, with an operator against an API server.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp::testing {
namespace {

using nlohmann::json;

struct Definition {
  static constexpr Kind kKind{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                              "customresourcedefinitions", Scope::kCluster};
  ObjectMeta metadata;
};
KOPP_FIELDS(Definition, metadata)

constexpr Kind kGadgets{"example.com/v1", "Gadget", "gadgets"};
ObjectKey DefinitionKey() { return {"", "gadgets.example.com"}; }

json GadgetDefinition() {
  return json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"gadgets.example.com"},
      "spec":{"group":"example.com","scope":"Namespaced",
              "names":{"kind":"Gadget","plural":"gadgets"},
              "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
                {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

/// An operator that watches Gadgets while their CustomResourceDefinition exists.
class GadgetOperator {
 public:
  explicit GadgetOperator(Manager& manager) {
    auto builder = manager.AddController<Definition>();
    controller_ = &builder.controller();
    builder.Reconcile([this](const ObjectKey& key, Context& context) {
      if (key == DefinitionKey()) OnDefinition(context.cache.Get<Definition>(key) != nullptr);
      const std::lock_guard guard{mutex_};
      reconciled_.push_back(key.name);
      return Result{};
    });
  }

  [[nodiscard]] bool HasReconciled(const std::string& name) {
    const std::lock_guard guard{mutex_};
    return std::ranges::find(reconciled_, name) != reconciled_.end();
  }

 private:
  void OnDefinition(bool exists) {
    if (!exists) return watch_.Stop();
    if (watch_.active()) return;
    watch_ = controller_->Watch(kGadgets, [](const Unstructured& gadget) {
      return std::vector<ObjectKey>{{gadget.metadata.ns, gadget.metadata.name}};
    });
  }

  Controller* controller_ = nullptr;
  WatchHandle watch_;  // used by the one worker
  std::mutex mutex_;
  std::vector<std::string> reconciled_;
};

TEST(RuntimeWatchWithServerTest, AWatchStartsAndEndsWithTheCustomResourceDefinitionOfItsKind) {
  Environment env;
  GadgetOperator gadgets(env.manager());
  env.Start();
  const auto is_watched = [&] {
    const auto kinds = env.manager().cache().Kinds();
    return std::ranges::find(kinds, OwningKind(kGadgets)) != kinds.end();
  };

  for (const std::string name : {"first", "second"}) {
    env.InstallObject(GadgetDefinition());
    EXPECT_TRUE(env.Eventually(is_watched));
    env.client().Dynamic(kGadgets).Create(
        {{"metadata", {{"name", name}, {"namespace", "default"}}}});
    EXPECT_TRUE(env.Eventually([&] { return gadgets.HasReconciled(name); }));

    env.client().Delete<Definition>(DefinitionKey());
    EXPECT_TRUE(env.Eventually([&] { return !is_watched(); }));
  }

  EXPECT_EQ(env.Stop(), 0);
}

}  // namespace
}  // namespace kopp::testing
