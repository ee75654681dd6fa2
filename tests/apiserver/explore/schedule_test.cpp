#include "explore/disturbance.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver::explore {
namespace {

using Type = Disturbance::Type;

TEST(ScheduleTest, ATextIsParsedAndPrintedAgain) {
  const Schedule schedule = ParseSchedule("crash-after:3+gap:12");

  EXPECT_EQ(schedule, (Schedule{{Type::kCrashAfter, 3}, {Type::kGap, 12}}));
  EXPECT_EQ(ToString(schedule), "crash-after:3+gap:12");
}

TEST(ScheduleTest, AnEmptyTextIsTheUndisturbedRun) { EXPECT_TRUE(ParseSchedule("").empty()); }

TEST(ScheduleTest, AnUnknownNameOrNumberIsRejectedWithTheValidNames) {
  for (const char* text : {"crash", "crash:3", "crash-after:", "crash-after:0", "crash-after:3x",
                           "crash-after:3+", "+"}) {
    try {
      static_cast<void>(ParseSchedule(text));
      ADD_FAILURE() << text << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("lost-response"));
    }
  }
}

}  // namespace
}  // namespace kopp::apiserver::explore
