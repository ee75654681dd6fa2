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

TEST(ExploreWebhooksTest, WebhooksAreServedWhileTheOperatorIsDown) {
  EXPECT_TRUE(Replay({.steps = {CreateWidget("a"), ChangeText("b")}},
                     OperatorWithWebhooks(CreateChild, AddValidation), "down-after:1"));
}

}  // namespace
}  // namespace kopp::testing
