#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include <kopp/informer/detail/retry_after.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

// 2026-10-21T07:28:00Z
constexpr WallTime kNow = std::chrono::sys_days{2026y / 10 / 21} + 7h + 28min;

TEST(RetryAfterTest, ANumberIsParsedAsSeconds) {
  EXPECT_EQ(ParseRetryAfter("0", kNow), 0s);
  EXPECT_EQ(ParseRetryAfter("5", kNow), 5s);
  EXPECT_EQ(ParseRetryAfter("3600", kNow), 1h);
}

TEST(RetryAfterTest, AVeryLargeNumberIsALongTime) {
  EXPECT_GT(ParseRetryAfter("99999999999999999999", kNow), 24h);
}

TEST(RetryAfterTest, ADateIsComparedToTheCurrentTime) {
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2026 07:28:30 GMT", kNow), 30s);
  EXPECT_EQ(ParseRetryAfter("Thu, 22 Oct 2026 07:28:00 GMT", kNow), 24h);
  EXPECT_EQ(ParseRetryAfter("Sun, 29 Feb 2032 00:00:00 GMT", kNow - 24h * 10000).has_value(), true);
}

TEST(RetryAfterTest, ADateInThePastIsZero) {
  EXPECT_EQ(ParseRetryAfter("Wed, 21 Oct 2015 07:28:00 GMT", kNow), 0s);
}

TEST(RetryAfterTest, ADateBeyondTheRangeOfTheClockIsALongTimeOrZero) {
  EXPECT_GT(ParseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", kNow), 24h);
  EXPECT_EQ(ParseRetryAfter("Mon, 01 Jan 0001 00:00:00 GMT", kNow), 0s);
}

TEST(RetryAfterTest, OtherValuesAreIgnored) {
  for (const char* value :
       {"", "-5", "+5", "5s", "1.5", " ", "soon", "Wed, 21 Oct 2026 07:28:00", "0x10",
        "Wed, 21 Oct 2026 07:28:00 GMT GMT", "Wed, 21 Oct 2026 GMT",
        "Wed, 31 Feb 2026 07:28:00 GMT", "Wed, 21 Oct 2026", "Wednesday, 21-Oct-26 07:28:00 GMT"}) {
    EXPECT_EQ(ParseRetryAfter(value, kNow), std::nullopt) << value;
  }
}

TEST(RetryAfterTest, TheDelayIsTheRetryAfterPlusAJitterOfUpToAHalf) {
  EXPECT_EQ(RetryAfterDelay(20s, 0), 20s);
  EXPECT_EQ(RetryAfterDelay(20s, 0.5), 25s);
  EXPECT_EQ(RetryAfterDelay(20s, 1), 30s);
}

TEST(RetryAfterTest, TheDelayIsZeroWithoutARetryAfterOrForANegativeOne) {
  EXPECT_EQ(RetryAfterDelay(std::nullopt, 1), 0s);
  EXPECT_EQ(RetryAfterDelay(-5s, 1), 0s);
}

TEST(RetryAfterTest, TheDelayWithoutItsJitterIsAtMostOneMinute) {
  EXPECT_EQ(RetryAfterDelay(1h, 0), 60s);
  EXPECT_EQ(RetryAfterDelay(Duration::max(), 1), 90s);
}

}  // namespace
}  // namespace kopp
