// Explores the sample controller and the reconcile functions of the examples.
#include "foo.hpp"
#include "foo_reconciler.hpp"
#include "widget.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <kopp/informer/predicates.hpp>
#include <kopp/k8s/apps/v1/stateful_set.hpp>
#include <kopp/k8s/core/v1/service_account.hpp>
#include <kopp/k8s/networking/v1/network_policy.hpp>
#include <kopp/k8s/policy/v1/pod_disruption_budget.hpp>

// The examples are programs: their reconcile functions are included here, without main.
namespace copy_example {
#define main Main  // NOLINT(readability-identifier-naming)
#include "03_configmap_controller.cpp"
#undef main
}  // namespace copy_example
namespace folder_example {
#define main Main  // NOLINT(readability-identifier-naming)
#include "04_finalizer.cpp"
#undef main
}  // namespace folder_example

namespace kopp::testing {
namespace {

using nlohmann::json;
using sample::Foo;

const ObjectKey foo_key{"default", "foo"};

/// Makes all replicas of each Deployment available, as the controllers of a cluster do.
void MakeDeploymentsAvailable(const Client& client) {
  for (const Deployment& deployment : client.List<Deployment>()) {
    const int replicas = deployment.spec.replicas.value_or(1);
    if (deployment.status.availableReplicas == replicas) continue;
    const json change{
        {"status",
         {{"replicas", replicas}, {"availableReplicas", replicas}, {"readyReplicas", replicas}}}};
    client.PatchStatus<Deployment>(KeyOf(deployment), Patch::Merge(change));
  }
}

Scenario FooScenario() {
  const auto create = [](const Client& client) {
    client.Create(Foo{.metadata = {.name = "foo", .ns = "default"},
                      .spec = {.deploymentName = "web", .replicas = 1}});
  };
  const auto scale = [](const Client& client) {
    const json change{{"spec", {{"replicas", 3}}}};
    client.Patch<Foo>(foo_key, Patch::Merge(change));
  };
  const auto delete_deployment = [](const Client& client) {
    client.Delete<Deployment>({"default", "web"});
  };
  return {.steps = {{"the user creates the Foo", create},
                    {"the user scales the Foo to 3", scale},
                    {"a user deletes the Deployment", delete_deployment}},
          .other_controllers = MakeDeploymentsAvailable};
}

void AddFooController(Manager& manager) {
  manager.AddController<Foo>({.sync_period = std::chrono::seconds(30)})
      .Where(GenerationChanged() || LabelsChanged() || AnnotationsChanged())
      .Owns<Deployment>()
      .Cached()
      .Where(ResourceVersionChanged())
      .Reconcile(sample::ReconcileFoo);
}

TEST(ExploreSampleTest, TheSampleControllerSurvivesAllDisturbances) {
  const ExploreResult result =
      Explore(FooScenario(), AddFooController, {.time_limit = kNoTimeLimit});
  EXPECT_TRUE(result);
  std::cout << result;
}

TEST(ExploreSampleTest, TheSampleControllerSurvivesTheDeletionOfItsFoo) {
  Scenario scenario = FooScenario();
  scenario.steps.push_back(
      {"the user deletes the Foo", [](const Client& client) { client.Delete<Foo>(foo_key); }});
  const ExploreResult result = Explore(scenario, AddFooController, {.time_limit = kNoTimeLimit});
  EXPECT_TRUE(result);
  std::cout << result;
}

TEST(ExploreSampleTest, APlantedWriteLoopIsFound) {
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<Foo>()
        .Where(GenerationChanged() || LabelsChanged())
        .Reconcile([](const Foo& foo, Context& context) {
          const bool is_seen = foo.metadata.labels.contains("seen");
          const json seen = is_seen ? json() : json("yes");
          context.client.Patch<Foo>(foo_key,
                                    Patch::Merge({{"metadata", {{"labels", {{"seen", seen}}}}}}));
          return sample::ReconcileFoo(foo, context);
        });
  };
  const ExploreResult result = Explore(FooScenario(), setup, {.time_limit = kNoTimeLimit});

  ASSERT_FALSE(result);
  EXPECT_THAT(result.findings.front().problem,
              ::testing::HasSubstr("writes the same fields of Foo default/foo back and forth"));
}

TEST(ExploreSampleTest, APlantedAdoptionOfAForeignDeploymentIsFound) {
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<Foo>().Owns<Deployment>().Cached().Reconcile(
        [](const Foo& foo, Context& context) {
          const ObjectKey key{foo.metadata.ns, foo.spec.deploymentName};
          const auto existing = context.cache.Get<Deployment>(key);
          if (existing && !IsControlledBy(*existing, foo)) {
            const json owner{{"metadata", OwnedBy(foo, foo.spec.deploymentName)}};
            context.client.Apply<Deployment>(owner, {.adopt = true});
          }
          return sample::ReconcileFoo(foo, context);
        });
  };
  Scenario scenario = FooScenario();
  scenario.start = [](const Client& client) {
    const json labels{{"app", "precious"}};
    client.Create<Deployment>(
        {{"metadata", {{"name", "web"}, {"namespace", "default"}}},
         {"spec",
          {{"selector", {{"matchLabels", labels}}},
           {"template",
            {{"metadata", {{"labels", labels}}},
             {"spec", {{"containers", {{{"name", "web"}, {"image", "precious:1"}}}}}}}}}}});
  };
  const auto owner_of_foreign = [](const Client& client) -> std::string {
    const auto web = client.Get<Deployment>({"default", "web"});
    const bool is_precious = web && web->spec.template_.metadata.labels.contains("app") &&
                             web->spec.template_.metadata.labels.at("app") == "precious";
    return is_precious && !web->metadata.ownerReferences.empty() ? "it has an owner" : "";
  };
  scenario.invariants = {{"the Deployment of others has no owner", owner_of_foreign}};
  const ExploreResult result =
      Explore(scenario, setup, {.time_limit = kNoTimeLimit, .max_findings = 1});

  ASSERT_FALSE(result);
  EXPECT_THAT(result.findings.front().problem, ::testing::HasSubstr("it has an owner"));
}

TEST(ExploreSampleTest, APlantedWriteThatDefeatsTheBackoffIsFound) {
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<Foo>().Owns<Deployment>().Cached().Reconcile(
        [&manager](const Foo& foo, Context& context) -> Result {
          if (context.clock.Now() > TimePoint{} + std::chrono::minutes(1)) {
            return sample::ReconcileFoo(foo, context);
          }
          const std::string error = "request id " + std::to_string(context.retries);
          manager.client().Patch<Foo>(  // its writes are not known as own ones
              foo_key, Patch::Merge({{"metadata", {{"annotations", {{"error", error}}}}}}));
          throw std::runtime_error(error);
        });
  };
  const ExploreResult result =
      Explore(FooScenario(), setup, {.time_limit = kNoTimeLimit, .max_findings = 1});

  ASSERT_FALSE(result);
  EXPECT_THAT(result.findings.front().problem,
              ::testing::HasSubstr("The back-off of foo default/foo is defeated"));
}

TEST(ExploreSampleTest, TheExampleThatCopiesConfigMapsSurvivesAllDisturbances) {
  const auto create = [](const Client& client) {
    client.Create(ConfigMap{.metadata = {.name = "settings",
                                         .ns = "default",
                                         .annotations = {{copy_example::kAnnotation, "copy"}}},
                            .data = {{"a", "1"}}});
  };
  const auto change = [](const Client& client) {
    const json data{{"data", {{"a", "2"}}}};
    client.Patch<ConfigMap>({"default", "settings"}, Patch::Merge(data));
  };
  const Scenario scenario{
      .steps = {{"the user creates settings", create}, {"the user changes settings", change}}};
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<ConfigMap>({.name = "copy"})
        .Owns<ConfigMap>()
        .Cached()
        .Reconcile(copy_example::Reconcile);
  };
  EXPECT_TRUE(Explore(scenario, setup, {.time_limit = kNoTimeLimit}));
}

using k8s::apps::v1::StatefulSet;
using k8s::core::v1::ServiceAccount;
using k8s::networking::v1::NetworkPolicy;
using k8s::policy::v1::PodDisruptionBudget;

json PodTemplate(const json& labels) {
  return {{"metadata", {{"labels", labels}}},
          {"spec", {{"containers", {{{"name", "app"}, {"image", "app:1"}}}}}}};
}

/// Applies a child if the cache does not have it or the text of the Widget has changed.
template <typename T>
void EnsureChild(const Widget& widget, const Context& context, json child) {
  constexpr const char* kText = "example.com/text";
  const auto existing = context.cache.Get<T>(widget_key);
  if (existing && existing->metadata.annotations.contains(kText) &&
      existing->metadata.annotations.at(kText) == widget.spec.text) {
    return;
  }
  child["metadata"] =
      json::parse(Encode(ConfigMap{.metadata = OwnedBy(widget, "web")}))["metadata"];
  child["metadata"]["annotations"] = {{kText, widget.spec.text}};
  context.client.Apply<T>(child);
}

/// Keeps eight children of a Widget, each of another kind.
Result EnsureEightChildren(const Widget& widget, Context& context) {
  const json labels{{"app", widget.metadata.name}};
  const json selector{{"matchLabels", labels}};
  const json pods = PodTemplate(labels);
  EnsureChild<ConfigMap>(widget, context, {{"data", {{"text", widget.spec.text}}}});
  EnsureChild<Secret>(widget, context, {{"stringData", {{"text", widget.spec.text}}}});
  EnsureChild<ServiceAccount>(widget, context, json::object());
  EnsureChild<Service>(widget, context,
                       {{"spec", {{"selector", labels}, {"ports", {{{"port", 80}}}}}}});
  EnsureChild<Deployment>(widget, context,
                          {{"spec", {{"selector", selector}, {"template", pods}}}});
  EnsureChild<StatefulSet>(
      widget, context,
      {{"spec", {{"selector", selector}, {"serviceName", "web"}, {"template", pods}}}});
  EnsureChild<NetworkPolicy>(widget, context, {{"spec", {{"podSelector", selector}}}});
  EnsureChild<PodDisruptionBudget>(widget, context,
                                   {{"spec", {{"selector", selector}, {"minAvailable", 1}}}});
  SetPhase(widget, "Ready " + widget.spec.text, context);
  return {};
}

void AddEightChildrenController(Manager& manager) {
  manager.AddController<Widget>()
      .Owns<ConfigMap>()
      .Cached()
      .Owns<Secret>()
      .Cached()
      .Owns<ServiceAccount>()
      .Cached()
      .Owns<Service>()
      .Cached()
      .Owns<Deployment>()
      .Cached()
      .Owns<StatefulSet>()
      .Cached()
      .Owns<NetworkPolicy>()
      .Cached()
      .Owns<PodDisruptionBudget>()
      .Cached()
      .Reconcile(EnsureEightChildren);
}

/// Prints how many runs a second there are: a benchmark for docs/explore.md.
TEST(ExploreSampleTest, AnOperatorOfEightChildrenSurvivesAllDisturbances) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "needs minutes with a sanitizer; the other tests run the same code";
#endif
  const ExploreResult result =
      Explore({.steps = {CreateWidget("a"), ChangeText("b")}}, AddEightChildrenController,
              {.pairs = 20, .time_limit = kNoTimeLimit});
  EXPECT_TRUE(result);
  std::cout << result;
}

/// Runs a test in a temporary current directory.
class ExploreFolderTest : public ::testing::Test {
 protected:
  ExploreFolderTest() {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  ~ExploreFolderTest() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  const std::filesystem::path before_ = std::filesystem::current_path();
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("explore-" + std::to_string(::getpid()));
};

TEST_F(ExploreFolderTest, TheExampleWithAFinalizerSurvivesAllDisturbances) {
  const auto clear = [](const Client&) {
    for (const auto& entry : std::filesystem::directory_iterator(".")) {
      std::filesystem::remove_all(entry);
    }
  };
  const auto create = [](const Client& client) {
    client.Create(ConfigMap{.metadata = {.name = "settings",
                                         .ns = "default",
                                         .labels = {{"example.com/folder", "yes"}}}});
  };
  const auto count_folders = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(".")) count += entry.exists();
    return std::to_string(count) + " folders";
  };
  const Scenario scenario{.start = clear,
                          .steps = {{"the user creates settings", create},
                                    {"the user deletes settings",
                                     [](const Client& client) {
                                       client.Delete<ConfigMap>({"default", "settings"});
                                     }}},
                          .outside_state = count_folders};
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<ConfigMap>().Reconcile(WithFinalizer<ConfigMap>(
        folder_example::kFinalizer, folder_example::CreateFolder, folder_example::RemoveFolder));
  };
  ExploreOptions options{.time_limit = kNoTimeLimit};
  options.cache.ByObject<ConfigMap>({.selector = {.labels = "example.com/folder=yes"}});
  EXPECT_TRUE(Explore(scenario, setup, options));
}

}  // namespace
}  // namespace kopp::testing
