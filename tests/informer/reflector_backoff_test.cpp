#include "reflector_state_fixture.hpp"

#include <chrono>
#include <exception>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using State = ReflectorState::State;

TEST_F(ReflectorStateTest, AListThatFailsWith403ReportsTheVerbsToGrant) {
  EXPECT_THAT(state_.OnFailure(ApiFailure(403)).problem,
              HasSubstr("grant verbs list and watch on pods in the core API group"));
}

TEST_F(ReflectorStateTest, AForbiddenListIsReportedOnceAMinuteAndRetriedAtLeastOnceAMinute) {
  int reports = 0;
  for (const TimePoint end = clock_.Now() + 10min; clock_.Now() < end;) {
    const auto next = state_.OnFailure(ApiFailure(403));
    if (!next.minor) ++reports;
    EXPECT_LE(next.delay, 60s) << "it recovers within a minute after the permission is restored";
    clock_.Advance(next.delay);
  }
  EXPECT_GE(reports, 5);
  EXPECT_LE(reports, 10);
}

TEST_F(ReflectorStateTest, AKindThatIsNotServedIsReportedOnceInTenMinutes) {
  int reports = 0;
  for (const TimePoint end = clock_.Now() + 30min; clock_.Now() < end;) {
    const auto next = state_.OnFailure(ApiFailure(404));
    if (!next.minor) ++reports;
    EXPECT_LE(next.delay, 60s) << "it recovers within a minute after the kind is installed";
    clock_.Advance(next.delay);
  }
  EXPECT_EQ(reports, 3);
}

TEST_F(ReflectorStateTest, AForbiddenWatchAfterASuccessfulListIsReportedOnceAMinute) {
  int reports = 0;
  for (const TimePoint end = clock_.Now() + 10min; clock_.Now() < end;) {
    ListAndWatch("7");
    const auto next = state_.OnFailure(ApiFailure(403));
    EXPECT_EQ(state_.state(), State::kListing);
    if (!next.minor) ++reports;
    clock_.Advance(next.delay);
  }
  EXPECT_LE(reports, 10);
}

TEST_F(ReflectorStateTest, ADifferentStatusIsReportedImmediately) {
  EXPECT_FALSE(state_.OnFailure(ApiFailure(403)).minor);
  EXPECT_TRUE(state_.OnFailure(ApiFailure(403)).minor);
  EXPECT_FALSE(state_.OnFailure(ApiFailure(500)).minor);
}

TEST_F(ReflectorStateTest, ARefusedConnectionIsRetriedAtMostThreeTimesAMinute) {
  for (int i = 0; i < 10; ++i) clock_.Advance(state_.OnFailure(ConnectionReset()).delay);
  int attempts = 0;
  for (const TimePoint end = clock_.Now() + 5min; clock_.Now() < end; ++attempts) {
    clock_.Advance(state_.OnFailure(ConnectionReset()).delay);
  }
  EXPECT_LE(attempts, 15);
}

TEST_F(ReflectorStateTest, BackoffDoublesFrom800msTo30sWithJitter) {
  Duration base = 800ms;
  for (int i = 0; i < 20; ++i) {
    const Duration delay = state_.OnFailure(ConnectionReset()).delay;
    EXPECT_GE(delay, base);
    EXPECT_LE(delay, 2 * base);
    base = std::min<Duration>(2 * base, 30s);
  }
}

TEST_F(ReflectorStateTest, BackoffRestartsAfterTwoMinutesWithoutFailure) {
  for (int i = 0; i < 10; ++i) (void)state_.OnFailure(ConnectionReset());
  clock_.Advance(2min + 1ns);

  EXPECT_LE(state_.OnFailure(ConnectionReset()).delay, 1600ms);
}

TEST_F(ReflectorStateTest, BackoffRestartsAfterAnEventOfAWatch) {
  for (int i = 0; i < 10; ++i) (void)state_.OnFailure(ConnectionReset());
  ListAndWatch("7");
  EXPECT_GT(state_.OnFailure(ConnectionReset()).delay, 10s) << "a watch may fail again and again";
  ListAndWatch("7");
  state_.OnEvent("8", false);

  EXPECT_LE(state_.OnFailure(ConnectionReset()).delay, 1600ms);
}

TEST_F(ReflectorStateTest, AnExpiredVersionIsListedSoonEvenAfterFailures) {
  for (int i = 0; i < 10; ++i) (void)state_.OnFailure(ConnectionReset());
  ListAndWatch("7");
  clock_.Advance(30s);

  EXPECT_LE(state_.OnFailure(ApiFailure(410)).delay, 800ms);
}

TEST_F(ReflectorStateTest, AVersionThatExpiresSoonAfterTheListIsListedAfterABackoff) {
  Duration base = 800ms;
  for (int i = 0; i < 5; ++i, base *= 2) {
    ListAndWatch("7");
    EXPECT_GE(state_.OnFailure(ApiFailure(410)).delay, base);
  }
}

// A program that is too slow for the watch of a busy kind gets a few events after each list.
TEST_F(ReflectorStateTest, EventsDoNotEndTheBackoffOfListsAfterExpiredVersions) {
  Duration base = 800ms;
  for (int i = 0; i < 10; ++i) {
    ListAndWatch("7");
    clock_.Advance(1s);
    state_.OnEvent("8", false);
    EXPECT_THAT(state_.OnFailure(ApiFailure(410)).delay, AllOf(Ge(base), Le(2 * base)));
    base = std::min<Duration>(2 * base, 30s);
  }
  ListAndWatch("7");
  clock_.Advance(30s);
  EXPECT_LE(state_.OnFailure(ApiFailure(410)).delay, 800ms) << "the program has caught up";
  ListAndWatch("7");
  EXPECT_LE(state_.OnFailure(ApiFailure(410)).delay, 1600ms);
}

TEST_F(ReflectorStateTest, RetryAfterIsRespectedUpToOneMinuteWithJitter) {
  const auto retry_after = [](int seconds) {
    return std::make_exception_ptr(
        ApiError("GET /x", {.code = 429, .details = {.retryAfterSeconds = seconds}}));
  };
  const auto delay = [&](int seconds) { return state_.OnFailure(retry_after(seconds)).delay; };
  EXPECT_THAT(delay(20), AllOf(Ge(20s), Le(30s)));
  EXPECT_THAT(delay(3600), AllOf(Ge(60s), Le(90s)));
  EXPECT_GT(delay(-5), 0s);
}

TEST_F(ReflectorStateTest, AWatchThatEndsWithinASecondWithoutEventsIsFollowedByABackoff) {
  ListAndWatch("7");
  EXPECT_GT(state_.OnWatchEnd().delay, 0s);

  (void)state_.StartWatch();
  clock_.Advance(1s);
  EXPECT_LE(state_.OnWatchEnd().delay, 1s);
}

// A load balancer cuts connections that are quiet for ten seconds.
TEST_F(ReflectorStateTest, AnOpenWatchThatIsCutAgainAndAgainIsOpenedAgainWithinASecondEachTime) {
  List("7");
  Duration waited{};
  for (int i = 0; i < 100; ++i) {
    (void)state_.StartWatch();
    clock_.Advance(10s);
    const auto next = Cut();
    ASSERT_LE(next.delay, 1s);
    EXPECT_TRUE(next.minor);
    EXPECT_FALSE(next.failed);
    EXPECT_EQ(next.problem, "connection reset");
    EXPECT_EQ(state_.state(), State::kCheckingVersion);
    waited += next.delay;
    clock_.Advance(next.delay);
    (void)state_.OnVersionCheck({.resource_version = "7"});
  }
  EXPECT_GT(waited, 30s) << "without jitter, all watches of a server are opened at once";
}

TEST_F(ReflectorStateTest, AnOpenWatchThatEndsAgainAndAgainIsOpenedAgainWithinASecondEachTime) {
  List("7");
  Duration waited{};
  for (int i = 0; i < 100; ++i) {
    (void)state_.StartWatch();
    clock_.Advance(10s);
    const auto next = state_.OnWatchEnd();
    ASSERT_LE(next.delay, 1s);
    EXPECT_FALSE(next.failed);
    EXPECT_EQ(next.problem, "");
    waited += next.delay;
    clock_.Advance(next.delay);
    (void)state_.OnVersionCheck({.resource_version = "7"});
  }
  EXPECT_GT(waited, 30s);
}

TEST_F(ReflectorStateTest, AWatchThatHasSentAnEventAndIsCutAtOnceIsNoFailure) {
  ListAndWatch("7");
  state_.OnEvent("8", false);
  const auto next = Cut();
  EXPECT_LE(next.delay, 1s);
  EXPECT_FALSE(next.failed);
}

TEST_F(ReflectorStateTest, AWatchThatIsCutAtOnceAgainAndAgainBacksOff) {
  List("7");
  Duration base = 800ms;
  for (int i = 0; i < 10; ++i) {
    (void)state_.StartWatch();
    const auto next = Cut();
    EXPECT_THAT(next.delay, AllOf(Ge(base), Le(2 * base)));
    EXPECT_TRUE(next.failed);
    EXPECT_THAT(next.problem, HasSubstr("ended within 1 s without an event (connection reset)"));
    base = std::min<Duration>(2 * base, 30s);
    (void)state_.OnVersionCheck({.resource_version = "7"});
  }
}

TEST_F(ReflectorStateTest, BackoffRestartsAfterAWatchThatWasOpenForASecond) {
  for (int i = 0; i < 10; ++i) (void)state_.OnFailure(ConnectionReset());
  ListAndWatch("7");
  clock_.Advance(1s);
  (void)Cut();

  EXPECT_LE(state_.OnFailure(ConnectionReset()).delay, 1600ms);
}

TEST_F(ReflectorStateTest, ARequestOfAWatchThatFailsIsAFailureAlsoAfterAnOpenWatch) {
  ListAndWatch("7");
  clock_.Advance(10s);
  (void)Cut();
  (void)state_.OnVersionCheck({.resource_version = "7"});
  (void)state_.StartWatch();
  clock_.Advance(10s);
  EXPECT_TRUE(state_.OnFailure(ConnectionReset()).failed);
}

TEST_F(ReflectorStateTest, AWatchThatEndsAtOnceIsReportedFromTheThirdTimeOnAndOnceAMinute) {
  ListAndWatch("7");
  const auto is_minor = [this] {
    const bool minor = state_.OnWatchEnd().minor;
    (void)state_.StartWatch();
    return minor;
  };
  EXPECT_TRUE(is_minor());
  EXPECT_TRUE(is_minor());
  EXPECT_FALSE(is_minor());
  EXPECT_TRUE(is_minor());

  clock_.Advance(61s);
  (void)state_.StartWatch();
  const auto next = state_.OnWatchEnd();
  EXPECT_FALSE(next.minor);
  EXPECT_THAT(next.problem, HasSubstr("within 1 s without an event, again; check the proxy"));
}

TEST_F(ReflectorStateTest, AWatchStartsAtLeastOneSecondAfterTheOneBefore) {
  List("7");
  EXPECT_EQ(state_.DelayBeforeWatch(), 0s) << "there was no watch before";
  (void)state_.StartWatch();
  state_.OnEvent("8", true);
  (void)state_.OnWatchEnd();

  EXPECT_EQ(state_.DelayBeforeWatch(), 1s);
  clock_.Advance(400ms);
  EXPECT_EQ(state_.DelayBeforeWatch(), 600ms);
  clock_.Advance(10s);
  EXPECT_EQ(state_.DelayBeforeWatch(), 0s);
}

}  // namespace
}  // namespace kopp::informer
