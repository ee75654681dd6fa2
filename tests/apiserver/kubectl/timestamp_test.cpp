#include "printers/printers.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;

TEST(HumanDurationTest, DurationsHaveAboutTwoSignificantDigits) {
  EXPECT_EQ(HumanDuration(0s), "0s");
  EXPECT_EQ(HumanDuration(119s), "119s");
  EXPECT_EQ(HumanDuration(2min), "2m");
  EXPECT_EQ(HumanDuration(9min + 59s), "9m59s");
  EXPECT_EQ(HumanDuration(10min + 59s), "10m");
  EXPECT_EQ(HumanDuration(179min), "179m");
  EXPECT_EQ(HumanDuration(3h), "3h");
  EXPECT_EQ(HumanDuration(7h + 59min), "7h59m");
  EXPECT_EQ(HumanDuration(8h + 59min), "8h");
  EXPECT_EQ(HumanDuration(47h), "47h");
  EXPECT_EQ(HumanDuration(48h), "2d");
  EXPECT_EQ(HumanDuration(7 * 24h + 23h), "7d23h");
  EXPECT_EQ(HumanDuration(8 * 24h + 23h), "8d");
  EXPECT_EQ(HumanDuration(729 * 24h), "729d");
  EXPECT_EQ(HumanDuration(2 * 365 * 24h), "2y");
  EXPECT_EQ(HumanDuration(2 * 365 * 24h + 24h), "2y1d");
  EXPECT_EQ(HumanDuration(8 * 365 * 24h + 24h), "8y");
}

TEST(HumanDurationTest, OneSecondInTheFutureIsAllowedForClockSkew) {
  EXPECT_EQ(HumanDuration(-1s), "0s");
  EXPECT_EQ(HumanDuration(-2s), "<invalid>");
}

TEST(FormatAgeTest, TimestampsMayHaveAnyTimeZone) {
  EXPECT_EQ(FormatAge("2026-01-02T03:04:05Z", "2026-01-02T03:04:10Z"), "5s");
  EXPECT_EQ(FormatAge("2026-01-02T03:04:05.999999Z", "2026-01-02T03:04:10Z"), "5s");
  EXPECT_EQ(FormatAge("2026-01-02T05:04:05+02:00", "2026-01-02T03:04:10Z"), "5s");
  EXPECT_EQ(FormatAge("2026-01-01T21:34:05-05:30", "2026-01-02T03:04:10Z"), "5s");
}

TEST(FormatAgeTest, InvalidTimestampsAreReported) {
  for (const char* text :
       {"x", "2026-01-02", "2026-01-02T03:04:05", "2026-02-29T03:04:05Z", "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:00Z", "2026-1-02T03:04:05Z", "2026-01-02T03:04:05ZZ", "-026-01-02T"}) {
    EXPECT_EQ(FormatAge(text, "2026-01-02T03:04:10Z"), "<invalid>") << text;
  }
  EXPECT_EQ(FormatAge("", "2026-01-02T03:04:10Z"), "<unknown>");
}

}  // namespace
}  // namespace kopp::apiserver
