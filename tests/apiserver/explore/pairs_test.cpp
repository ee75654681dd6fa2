// Findings of pairs of disturbances, and the order of findings.
#include "widget.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace kopp::testing {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const Scenario widget_is_created{.steps = {CreateWidget()}};

/// Creates the child and sets the phase. It gives up after the second failure.
Result TryTwice(const Widget& widget, Context& context) {
  try {
    if (!context.cache.Get<ConfigMap>({"default", "child"})) {
      context.client.Create(ChildOf(widget, "child"));
    }
    SetPhase(widget, "Ready", context);
  } catch (const std::exception&) {
    if (context.retries == 0) throw;
  }
  return {};
}

TEST(ExplorePairsTest, ABugThatNeedsTwoDisturbancesIsFoundOnlyWithPairs) {
  EXPECT_TRUE(Explore(widget_is_created, WidgetOperator(TryTwice),
                      {.pairs = 0, .time_limit = kNoTimeLimit}));

  const ExploreResult result =
      Explore(widget_is_created, WidgetOperator(TryTwice),
              {.pairs = 500, .time_limit = kNoTimeLimit, .max_findings = 1});
  ASSERT_EQ(result.findings.size(), 1U);
  const std::string schedule = result.findings.front().schedule;
  EXPECT_THAT(schedule, HasSubstr("+"));
  for (const auto& single :
       {schedule.substr(0, schedule.find('+')), schedule.substr(schedule.find('+') + 1)}) {
    EXPECT_TRUE(Replay(widget_is_created, WidgetOperator(TryTwice), single));
  }
}

TEST(ExploreOrderTest, TheFindingWithTheShortestStoryIsPrintedFirst) {
  const auto create_once = [](const Widget& widget, Context& context) -> Result {
    if (widget.status.phase == "Ready") return {};
    context.client.Create(ChildOf(widget, "child"));
    SetPhase(widget, "Ready", context);
    return {};
  };
  const ExploreResult result =
      Explore(widget_is_created, WidgetOperator(create_once), {.max_findings = 100});

  std::vector<std::string> schedules;
  std::vector<std::ptrdiff_t> lengths;
  for (const Finding& finding : result.findings) {
    schedules.push_back(finding.schedule);
    lengths.push_back(std::ranges::count(finding.story, '\n'));
  }
  ASSERT_THAT(schedules, SizeIs(Ge(2U)));
  EXPECT_TRUE(std::ranges::is_sorted(lengths)) << ::testing::PrintToString(lengths);
  EXPECT_LT(lengths.front(), lengths.back());
  // Explore disturbs call 1 first, but its stories are longer.
  EXPECT_THAT(schedules.front(), EndsWith(":2"));
  EXPECT_THAT(schedules, Contains("crash-after:1"));
  const std::string text = result.ToString();
  EXPECT_THAT(text, HasSubstr("fails with the schedule \"" + schedules.front() + "\":\n" +
                              result.findings.front().story));
  EXPECT_THAT(text, HasSubstr("Replay(scenario, setup, \"" + schedules.front() + "\""));
}

}  // namespace
}  // namespace kopp::testing
