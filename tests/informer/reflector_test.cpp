#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/reflector.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using State = ReflectorState::State;

std::exception_ptr Refusal(int code, std::string reason = {}) {
  return std::make_exception_ptr(ApiError("GET /x", {.reason = std::move(reason), .code = code}));
}
std::exception_ptr Broken() {
  return std::make_exception_ptr(std::runtime_error("connection reset"));
}
std::exception_ptr BadFrame() {
  return std::make_exception_ptr(DecodeError(DecodeError::Kind::kMalformed, "", "not JSON"));
}

class ReflectorStateTest : public ::testing::Test {
 protected:
  void List(const std::string& version) { state_.Listed({.resource_version = version}); }
  void ListAndWatch(const std::string& version) {
    List(version);
    watch_ = state_.NextWatch();
  }

  kopp::testing::FakeClock clock_;
  ReflectorState state_{{.clock = clock_, .seed = 1}};
  WatchOptions watch_;
};

TEST_F(ReflectorStateTest, TheFirstListTakesAnyVersionAndTheWatchGoesOnFromIt) {
  EXPECT_EQ(state_.NextList().resource_version, "0");
  EXPECT_EQ(state_.NextList().limit, 0);

  ListAndWatch("7");

  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(watch_.resource_version, "7");
}

TEST_F(ReflectorStateTest, AWatchResumesFromTheLastEventOrBookmark) {
  ListAndWatch("7");
  state_.Heard("8", false);
  state_.Heard("12", true);
  EXPECT_EQ(state_.Ended().pause, 0s);

  EXPECT_EQ(state_.NextWatch().resource_version, "12");
}

TEST_F(ReflectorStateTest, ABookmarkWithAnOlderOrNoVersionIsIgnored) {
  ListAndWatch("12");
  state_.Heard("9", true);
  state_.Heard("", true);

  EXPECT_EQ(state_.resource_version(), "12");
}

TEST_F(ReflectorStateTest, AWatchIsAskedToEndBetween240And480Seconds) {
  List("1");
  for (int i = 0; i < 200; ++i) {
    const Duration timeout = state_.NextWatch().timeout;
    EXPECT_GE(timeout, 240s);
    EXPECT_LE(timeout, 480s);
  }
}

TEST_F(ReflectorStateTest, A410OfAWatchListsAgainFromTheLastVersion) {
  ListAndWatch("7");
  state_.Heard("9", false);

  const auto next = state_.Failed(Refusal(410, "Expired"));

  EXPECT_TRUE(next.minor);
  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_EQ(state_.NextList().resource_version, "9");
}

TEST_F(ReflectorStateTest, A410OfAListListsTheNewestInPagesAtOnce) {
  const auto next = state_.Failed(Refusal(410));

  EXPECT_EQ(next.pause, 0s);
  EXPECT_EQ(state_.NextList().resource_version, "");
  EXPECT_EQ(state_.NextList().limit, 500);
}

TEST_F(ReflectorStateTest, ATooLargeVersionListsTheNewestInPagesAtOnce) {
  ListAndWatch("1000");
  (void)state_.Failed(Refusal(410));
  const auto too_large = std::make_exception_ptr(
      ApiError("GET /x", {.message = "Too large resource version: 1000, current: 3", .code = 504}));

  EXPECT_EQ(state_.Failed(too_large).pause, 0s);
  EXPECT_EQ(state_.state(), State::kPaging);
  List("3");
  EXPECT_EQ(state_.NextWatch().resource_version, "3") << "the server's version went back";
}

TEST_F(ReflectorStateTest, PagesFollowEachOtherByTheirTokens) {
  (void)state_.Failed(Refusal(410));

  EXPECT_FALSE(state_.Listed({.resource_version = "5", .continue_token = "next"}));
  EXPECT_EQ(state_.NextList().continue_token, "next");
  EXPECT_EQ(state_.NextList().resource_version, "");
  EXPECT_TRUE(state_.Listed({.resource_version = "5"}));

  EXPECT_EQ(state_.state(), State::kWatching);
}

TEST_F(ReflectorStateTest, APageWhoseTokenExpiredLeadsToOneListOfAll) {
  (void)state_.Failed(Refusal(410));
  state_.Listed({.resource_version = "5", .continue_token = "next"});

  EXPECT_EQ(state_.Failed(Refusal(410)).pause, 0s);

  EXPECT_EQ(state_.state(), State::kListingAll);
  EXPECT_EQ(state_.NextList().limit, 0);
  EXPECT_EQ(state_.NextList().resource_version, "");
}

TEST_F(ReflectorStateTest, APageThatFailsOtherwiseStartsAtTheFirstAgain) {
  (void)state_.Failed(Refusal(410));
  state_.Listed({.resource_version = "5", .continue_token = "next"});

  EXPECT_GT(state_.Failed(Broken()).pause, 0s);

  EXPECT_EQ(state_.NextList().continue_token, "");
  EXPECT_EQ(state_.NextList().limit, 500);
}

TEST_F(ReflectorStateTest, AWatchThatBreaksResumesWithoutAList) {
  for (const auto& failure : {Broken(), Refusal(429), Refusal(500), Refusal(503)}) {
    ListAndWatch("7");
    (void)state_.Failed(failure);
    EXPECT_EQ(state_.state(), State::kWatching);
    EXPECT_EQ(state_.NextWatch().resource_version, "7");
  }
}

TEST_F(ReflectorStateTest, AWatchOfAKindThatIsNoLongerServedListsAgain) {
  ListAndWatch("7");
  const auto next = state_.Failed(Refusal(404));

  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_THAT(next.problem, HasSubstr("is its CustomResourceDefinition installed?"));
}

TEST_F(ReflectorStateTest, AForbiddenListSaysWhichVerbsToGrant) {
  EXPECT_THAT(state_.Failed(Refusal(403)).problem, HasSubstr("grant this account the verbs list"));
}

TEST_F(ReflectorStateTest, PausesDoubleFrom800msTo30sPlusAsMuchAgainByChance) {
  Duration base = 800ms;
  for (int i = 0; i < 20; ++i) {
    const Duration pause = state_.Failed(Broken()).pause;
    EXPECT_GE(pause, base);
    EXPECT_LE(pause, 2 * base);
    base = std::min<Duration>(2 * base, 30s);
  }
}

TEST_F(ReflectorStateTest, AfterTwoQuietMinutesPausesStartAgain) {
  for (int i = 0; i < 10; ++i) (void)state_.Failed(Broken());
  clock_.Advance(2min + 1ns);

  EXPECT_LE(state_.Failed(Broken()).pause, 1600ms);
}

TEST_F(ReflectorStateTest, ARetryAfterIsKeptToUpToAMinute) {
  const auto asked = [](int seconds) {
    return std::make_exception_ptr(
        ApiError("GET /x", {.code = 429, .details = {.retryAfterSeconds = seconds}}));
  };
  EXPECT_EQ(state_.Failed(asked(20)).pause, 20s);
  EXPECT_EQ(state_.Failed(asked(3600)).pause, 60s);
  EXPECT_GT(state_.Failed(asked(-5)).pause, 0s);
}

TEST_F(ReflectorStateTest, AWatchThatEndsAtOnceWithNothingSentIsFollowedByAPause) {
  ListAndWatch("7");
  EXPECT_GT(state_.Ended().pause, 0s);

  (void)state_.NextWatch();
  clock_.Advance(1s);
  EXPECT_EQ(state_.Ended().pause, 0s);
}

TEST_F(ReflectorStateTest, WithoutBookmarksAWatchIsGivenUpFiveSecondsAfterItsTimeout) {
  ListAndWatch("7");
  clock_.Advance(100s);
  state_.Heard("8", false);

  EXPECT_EQ(state_.SilentUntil(), TimePoint{} + watch_.timeout + 5s);
}

TEST_F(ReflectorStateTest, OnceABookmarkWasSeenAWatchIsGivenUpAfter75SilentSeconds) {
  ListAndWatch("7");
  clock_.Advance(60s);
  state_.Heard("8", true);
  EXPECT_EQ(state_.SilentUntil(), clock_.Now() + 75s);

  clock_.Advance(10s);
  state_.Heard("9", false);
  EXPECT_EQ(state_.SilentUntil(), clock_.Now() + 75s);
}

TEST_F(ReflectorStateTest, ABadFrameResumesAndTheThirdInARowListsAgain) {
  ListAndWatch("7");
  (void)state_.Failed(BadFrame());
  (void)state_.Failed(BadFrame());
  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(state_.NextWatch().resource_version, "7");

  const auto next = state_.Failed(BadFrame());

  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_THAT(next.problem, HasSubstr("after version 7"));
}

}  // namespace
}  // namespace kopp::informer
