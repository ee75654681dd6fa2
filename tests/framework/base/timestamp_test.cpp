#include "base/timestamp.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

TEST(FormatTimestampTest, ATimeIsWrittenInUtcUpToTheSecond) {
  EXPECT_EQ(FormatTimestamp(WallTime{1'700'000'000s + 999ms}), "2023-11-14T22:13:20Z");
  EXPECT_EQ(FormatTimestamp(WallTime{-1ms}), "1969-12-31T23:59:59Z");
}

TEST(FormatTimestampTest, AMicroTimeAlwaysHasSixDigits) {
  EXPECT_EQ(FormatMicroTime(WallTime{1'700'000'000s}), "2023-11-14T22:13:20.000000Z");
  EXPECT_EQ(FormatMicroTime(WallTime{1'700'000'000s + 1us + 999ns}), "2023-11-14T22:13:20.000001Z");
  EXPECT_EQ(FormatMicroTime(WallTime{-1us}), "1969-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace kopp::detail
