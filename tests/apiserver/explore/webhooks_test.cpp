// Explores operators with webhooks: the API server calls them, and their calls are disturbed.
#include "widget.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include <gmock/gmock.h>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const ObjectKey child_key{"default", "child"};

/// Returns an operator with `reconcile` and the webhooks that `add` adds.
template <typename Reconcile, typename Add>
OperatorSetup OperatorWithWebhooks(Reconcile reconcile, Add add) {
  return [reconcile, add](Manager& manager) {
    WidgetOperator(reconcile)(manager);
    add(manager);
  };
}

/// Creates the child unless it exists.
Result CreateChild(const Widget& widget, Context& context) {
  if (!context.cache.Get<ConfigMap>(child_key)) context.client.Create(ChildOf(widget, "child"));
  SetPhase(widget, "Done", context);
  return {};
}

/// Adds a webhook that allows each ConfigMap of a Widget that is in the cache.
void AddValidation(Manager& manager) {
  manager.AddWebhook<ConfigMap>().Validate([](const ConfigMap&, AdmissionContext& context) {
    if (!context.cache.Get<Widget>(widget_key)) throw AdmissionDenied("there is no Widget");
  });
}

TEST(ExploreWebhooksTest, ADenialThatIsTakenForSuccessIsFound) {
  const auto buggy = [](const Widget& widget, Context& context) -> Result {
    if (widget.status.phase == "Done") return {};
    try {
      return CreateChild(widget, context);
    } catch (const ApiError& error) {
      if (!error.IsForbidden()) throw;
      SetPhase(widget, "Done", context);
      return {};
    }
  };
  const Scenario scenario{.steps = {CreateWidget("a")}};

  const ExploreResult found = Explore(scenario, OperatorWithWebhooks(buggy, AddValidation));

  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings[0].schedule, "webhook-denied:1");
  EXPECT_THAT(
      found.findings[0].story,
      HasSubstr("** webhook-denied:1: the webhook /validate--v1-configmap denies the write"));
  EXPECT_TRUE(Explore(scenario, OperatorWithWebhooks(CreateChild, AddValidation), {.pairs = 20}));
}

TEST(ExploreWebhooksTest, AnObjectWithoutTheDefaultsOfAWebhookThatFailsOpenIsFound) {
  const auto add = [](Manager& manager) {
    manager.AddWebhook<ConfigMap>({.failure_policy = WebhookOptions::FailurePolicy::kIgnore})
        .Default([](ConfigMap& map) { map.data.emplace("size", "1"); });
  };
  const auto corrected = [](const Widget& widget, Context& context) -> Result {
    const auto child = context.cache.Get<ConfigMap>(child_key);
    if (!child) return CreateChild(widget, context);
    if (!child->data.contains("size")) {
      context.client.Patch<ConfigMap>(child_key, Patch::Merge({{"data", {{"size", "1"}}}}));
    }
    SetPhase(widget, "Done", context);
    return {};
  };
  const Scenario scenario{.steps = {CreateWidget("a")}};

  const ExploreResult found = Explore(scenario, OperatorWithWebhooks(CreateChild, add));

  EXPECT_TRUE(std::ranges::any_of(found.findings, [](const Finding& finding) {
    return finding.schedule == "webhook-timeout:1" || finding.schedule == "webhook-refused:1";
  })) << found;
  EXPECT_TRUE(Explore(scenario, OperatorWithWebhooks(corrected, add), {.pairs = 20}));
}

/// Returns how long the longest create of the operator lasts, by the clock of the simulation.
Duration LongestCreate(const std::string& schedule) {
  Duration longest{};
  const auto reconcile = [&longest](const Widget& widget, Context& context) -> Result {
    const TimePoint start = context.clock.Now();
    const auto measure = [&] { longest = std::max(longest, context.clock.Now() - start); };
    try {
      const Result result = CreateChild(widget, context);
      measure();
      return result;
    } catch (const ApiError&) {
      measure();
      throw;
    }
  };
  EXPECT_TRUE(Replay({.steps = {CreateWidget("a")}}, OperatorWithWebhooks(reconcile, AddValidation),
                     schedule));
  return longest;
}

TEST(ExploreWebhooksTest, ATimeoutAndASlowWebhookLastByTheClockOfTheSimulation) {
  EXPECT_EQ(LongestCreate("webhook-timeout:1"), 10s);
  EXPECT_EQ(LongestCreate("webhook-slow:1"), 9s);
  EXPECT_EQ(LongestCreate("webhook-refused:1"), 0s);
}

TEST(ExploreWebhooksTest, TheWritesOfTheScenarioAreReviewedButNotDisturbed) {
  const auto add = [](Manager& manager) {
    manager.AddWebhook<Widget>().Validate([](const Widget& widget) -> FieldErrors {
      if (widget.spec.text == "bad") return {field::Invalid("spec.text", "bad", "is bad")};
      return {};
    });
  };
  const auto reconcile = [](const Widget&, Context&) { return Result{}; };
  const ScenarioStep bad{"the user creates an invalid Widget", [](const Client& client) {
                           EXPECT_THROW(client.Create(NewWidget("bad")), ApiError);
                         }};

  EXPECT_TRUE(
      Explore({.steps = {bad, CreateWidget("good")}}, OperatorWithWebhooks(reconcile, add)));
  EXPECT_FALSE(Replay({.steps = {bad, CreateWidget("good")}}, OperatorWithWebhooks(reconcile, add),
                      "webhook-denied:1"));
}

/// Adds a webhook of ConfigMaps that sets data.size, and rejects data.color "bad".
void AddDefaultAndValidation(Manager& manager) {
  manager.AddWebhook<ConfigMap>()
      .Default([](ConfigMap& map) { map.data.emplace("size", "1"); })
      .Validate([](const ConfigMap& map) {
        const auto color = map.data.find("color");
        if (color != map.data.end() && color->second == "bad") throw AdmissionDenied("a bad color");
      });
}

/// Creates a ConfigMap that the webhook of AddDefaultAndValidation denies, and one that it changes.
void CreateReviewedConfigMaps(const Client& client) {
  const auto create = [&](const std::string& color) {
    return client.Create(
        ConfigMap{.metadata = {.name = color, .ns = "default"}, .data = {{"color", color}}});
  };
  try {
    create("bad");
    ADD_FAILURE() << "the webhook has not denied the write";
  } catch (const ApiError& error) {
    EXPECT_THAT(error.what(), HasSubstr("denied the request: a bad color"));
  }
  EXPECT_EQ(create("good").data, StringMap({{"color", "good"}, {"size", "1"}}));
}

TEST(ExploreWebhooksTest, WebhooksAreServedWhileTheOperatorIsDown) {
  const std::string schedule = "down-after:1";
  const OperatorSetup setup = OperatorWithWebhooks(CreateChild, AddDefaultAndValidation);
  Scenario scenario{
      .steps = {CreateWidget("a"), {"the user creates ConfigMaps", CreateReviewedConfigMaps}}};
  EXPECT_TRUE(Replay(scenario, setup, schedule));

  // Only a failed run has a story. So the state outside of the API server differs in each run after
  // the two undisturbed ones.
  int runs = 0;
  scenario.start = [&](const Client&) { ++runs; };
  scenario.outside_state = [&] { return runs <= 2 ? "undisturbed" : "disturbed"; };
  const ExploreResult disturbed = Replay(scenario, setup, schedule);

  ASSERT_EQ(disturbed.findings.size(), 1U);
  std::string story = disturbed.findings[0].story;
  story.erase(0, story.find("** down-after:1"));
  const std::string while_down = story.substr(0, story.find("the operator starts"));
  EXPECT_THAT(while_down, AllOf(HasSubstr("the process has ended"),
                                HasSubstr("STEP: the user creates ConfigMaps"),
                                HasSubstr(": create configmaps default/bad → 403"),
                                HasSubstr(": create configmaps default/good → 201")));
}

}  // namespace
}  // namespace kopp::testing
