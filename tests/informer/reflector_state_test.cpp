#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/reflector_state.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using State = ReflectorState::State;

std::exception_ptr ApiFailure(int code, std::string reason = {}) {
  return std::make_exception_ptr(
      ApiError("LIST /api/v1/pods", {.reason = std::move(reason), .code = code}));
}
std::exception_ptr ConnectionReset() {
  return std::make_exception_ptr(std::runtime_error("connection reset"));
}
std::exception_ptr MalformedFrame() {
  return std::make_exception_ptr(DecodeError(DecodeError::Kind::kMalformed, "", "not JSON"));
}

class ReflectorStateTest : public ::testing::Test {
 protected:
  void List(const std::string& version) { state_.OnListPage({.resource_version = version}); }
  void ListAndWatch(const std::string& version) {
    List(version);
    watch_ = state_.StartWatch();
  }

  kopp::testing::FakeClock clock_;
  ReflectorState state_{{.clock = clock_, .seed = 1}};
  WatchOptions watch_;
};

TEST_F(ReflectorStateTest, TheFirstListAcceptsAnyVersionAndTheWatchStartsFromItsResult) {
  EXPECT_EQ(state_.NextListOptions().resource_version, "0");
  EXPECT_EQ(state_.NextListOptions().limit, 0);

  ListAndWatch("7");

  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(watch_.resource_version, "7");
}

TEST_F(ReflectorStateTest, AConsistentStartListsTheNewestVersionFirst) {
  ReflectorState state{{.clock = clock_, .seed = 1, .consistent_start = true}};
  EXPECT_EQ(state.NextListOptions().resource_version, "");

  state.OnListPage({.resource_version = "7"});
  (void)state.OnFailure(ApiFailure(410));

  EXPECT_EQ(state.NextListOptions().resource_version, "7");
}

TEST_F(ReflectorStateTest, AWatchResumesFromTheLastEventOrBookmark) {
  ListAndWatch("7");
  state_.OnEvent("8", false);
  state_.OnEvent("12", true);
  EXPECT_EQ(state_.OnWatchEnd().delay, 0s);

  EXPECT_EQ(state_.StartWatch().resource_version, "12");
}

TEST_F(ReflectorStateTest, ABookmarkWithAnOlderOrEmptyVersionIsIgnored) {
  ListAndWatch("12");
  state_.OnEvent("9", true);
  state_.OnEvent("", true);

  EXPECT_EQ(state_.resource_version(), "12");
}

TEST_F(ReflectorStateTest, TheWatchTimeoutIsBetween240And480Seconds) {
  List("1");
  for (int i = 0; i < 200; ++i) {
    const Duration timeout = state_.StartWatch().timeout;
    EXPECT_GE(timeout, 240s);
    EXPECT_LE(timeout, 480s);
  }
}

TEST_F(ReflectorStateTest, AWatchThatFailsWith410RelistsFromTheLastVersion) {
  ListAndWatch("7");
  state_.OnEvent("9", false);

  const auto next = state_.OnFailure(ApiFailure(410, "Expired"));

  EXPECT_TRUE(next.minor);
  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_EQ(state_.NextListOptions().resource_version, "9");
}

TEST_F(ReflectorStateTest, AListThatFailsWith410ListsTheNewestVersionInPagesWithoutDelay) {
  const auto next = state_.OnFailure(ApiFailure(410));

  EXPECT_EQ(next.delay, 0s);
  EXPECT_EQ(state_.NextListOptions().resource_version, "");
  EXPECT_EQ(state_.NextListOptions().limit, 500);
}

TEST_F(ReflectorStateTest, ATooLargeVersionListsTheNewestVersionInPagesWithoutDelay) {
  ListAndWatch("1000");
  (void)state_.OnFailure(ApiFailure(410));
  const auto too_large = std::make_exception_ptr(
      ApiError("GET /x", {.message = "Too large resource version: 1000, current: 3", .code = 504}));

  EXPECT_EQ(state_.OnFailure(too_large).delay, 0s);
  EXPECT_EQ(state_.state(), State::kListingPages);
  List("3");
  EXPECT_EQ(state_.StartWatch().resource_version, "3")
      << "the version may go back, for example after etcd was restored";
}

TEST_F(ReflectorStateTest, TheNextPageIsRequestedWithTheContinueToken) {
  (void)state_.OnFailure(ApiFailure(410));

  EXPECT_FALSE(state_.OnListPage({.resource_version = "5", .continue_token = "next"}));
  EXPECT_EQ(state_.NextListOptions().continue_token, "next");
  EXPECT_EQ(state_.NextListOptions().resource_version, "");
  EXPECT_TRUE(state_.OnListPage({.resource_version = "5"}));

  EXPECT_EQ(state_.state(), State::kWatching);
}

TEST_F(ReflectorStateTest, AnExpiredContinueTokenLeadsToAnUnpagedList) {
  (void)state_.OnFailure(ApiFailure(410));
  state_.OnListPage({.resource_version = "5", .continue_token = "next"});

  EXPECT_EQ(state_.OnFailure(ApiFailure(410)).delay, 0s);

  EXPECT_EQ(state_.state(), State::kListingUnpaged);
  EXPECT_EQ(state_.NextListOptions().limit, 0);
  EXPECT_EQ(state_.NextListOptions().resource_version, "");
}

TEST_F(ReflectorStateTest, APageThatFailsForAnotherReasonRestartsAtTheFirstPage) {
  (void)state_.OnFailure(ApiFailure(410));
  state_.OnListPage({.resource_version = "5", .continue_token = "next"});

  EXPECT_GT(state_.OnFailure(ConnectionReset()).delay, 0s);

  EXPECT_EQ(state_.NextListOptions().continue_token, "");
  EXPECT_EQ(state_.NextListOptions().limit, 500);
}

TEST_F(ReflectorStateTest, AWatchThatFailsTemporarilyResumesWithoutARelistIfTheVersionIsNotOlder) {
  for (const auto& failure : {ConnectionReset(), ApiFailure(500), ApiFailure(503)}) {
    ListAndWatch("7");
    (void)state_.OnFailure(failure);
    EXPECT_EQ(state_.state(), State::kCheckingVersion);
    (void)state_.OnFailure(failure);
    EXPECT_EQ(state_.state(), State::kCheckingVersion) << "the server may still be starting";
    (void)state_.OnVersionCheck({.resource_version = "8"});
    EXPECT_EQ(state_.StartWatch().resource_version, "7");
  }
}

TEST_F(ReflectorStateTest, AWatchThatFailsWith429ResumesAfterADelayWithoutACheckOfTheVersion) {
  ListAndWatch("7");
  EXPECT_GT(state_.OnFailure(ApiFailure(429)).delay, 0s);
  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(state_.StartWatch().resource_version, "7");
}

TEST_F(ReflectorStateTest, AWatchThatFailsWith404Relists) {
  ListAndWatch("7");
  const auto next = state_.OnFailure(ApiFailure(404));

  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_THAT(next.problem, HasSubstr("check that its CustomResourceDefinition is installed"));
}

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
  EXPECT_EQ(state_.OnWatchEnd().delay, 0s);
}

TEST_F(ReflectorStateTest, AWatchStartsAtLeastOneSecondAfterTheOneBefore) {
  List("7");
  EXPECT_EQ(state_.DelayBeforeWatch(), 0s) << "there was no watch before";
  (void)state_.StartWatch();
  state_.OnEvent("8", true);
  EXPECT_EQ(state_.OnWatchEnd().delay, 0s);

  EXPECT_EQ(state_.DelayBeforeWatch(), 1s);
  clock_.Advance(400ms);
  EXPECT_EQ(state_.DelayBeforeWatch(), 600ms);
  clock_.Advance(10s);
  EXPECT_EQ(state_.DelayBeforeWatch(), 0s);
}

TEST_F(ReflectorStateTest, AfterAnIdleTimeoutTheNewestVersionIsReadAndTheWatchResumes) {
  ListAndWatch("12");
  (void)state_.OnIdleTimeout();

  EXPECT_EQ(state_.state(), State::kCheckingVersion);
  EXPECT_EQ(state_.NextListOptions().limit, 1);
  EXPECT_EQ(state_.NextListOptions().resource_version, "") << "\"0\" may be answered from a cache";
  for (const char* newest : {"12", "15"}) {
    EXPECT_EQ(state_.OnVersionCheck({.resource_version = newest}).problem, "");
    EXPECT_EQ(state_.state(), State::kWatching);
    EXPECT_EQ(state_.resource_version(), "12");
  }
}

TEST_F(ReflectorStateTest, IfTheNewestVersionIsOlderThanTheLastEverythingIsListedAgain) {
  ListAndWatch("12");
  EXPECT_TRUE(state_.IsOutdated("9"));
  (void)state_.OnOutdatedVersion("9");
  ASSERT_EQ(state_.state(), State::kCheckingVersion);

  EXPECT_THAT(state_.OnVersionCheck({.resource_version = "9"}).problem,
              HasSubstr("etcd was probably restored"));

  EXPECT_EQ(state_.state(), State::kListingPages);
  List("9");
  EXPECT_EQ(state_.StartWatch().resource_version, "9");
}

// Other writes may have passed the last version before the check.
TEST_F(ReflectorStateTest, IfTheVersionOfTheLastChangedObjectWentBackEverythingIsListedAgain) {
  for (const bool deleted : {false, true}) {
    ListAndWatch("5");
    state_.OnChange({"default", "a"}, "12", deleted);
    state_.OnEvent("12", /*bookmark=*/false);
    (void)state_.OnIdleTimeout();
    EXPECT_EQ(state_.NextListOptions().object, (ObjectKey{"default", "a"}));

    const auto next = state_.OnVersionCheck({.resource_version = "20"}, "9");

    EXPECT_EQ(
        next.problem,
        "the resource version of default/a went back from 12 to 9: etcd was probably restored "
        "from a backup; listing again");
    EXPECT_EQ(state_.state(), State::kListingPages);
    List("20");
    EXPECT_TRUE(state_.MayFollowRestore());
    EXPECT_EQ(state_.StartWatch().resource_version, "20");
    EXPECT_FALSE(state_.MayFollowRestore());
  }
}

TEST_F(ReflectorStateTest, IfTheLastChangedObjectIsGoneEverythingIsListedAgain) {
  ListAndWatch("5");
  state_.OnChange({"default", "a"}, "12", /*deleted=*/false);
  (void)state_.OnIdleTimeout();

  const auto next = state_.OnVersionCheck({.resource_version = "20"});

  EXPECT_THAT(next.problem, HasSubstr("default/a, which changed last, is gone"));
  EXPECT_TRUE(next.minor);
  EXPECT_EQ(state_.state(), State::kListingPages);
}

TEST_F(ReflectorStateTest, TheWatchResumesIfTheLastChangedObjectIsAsItWasOrHasChangedSince) {
  const struct {
    const char* description;
    bool deleted;
    const char* found;
  } cases[] = {{"unchanged", false, "12"},
               {"changed", false, "13"},
               {"still deleted", true, ""},
               {"created again", true, "13"}};
  for (const auto& [description, deleted, found] : cases) {
    ListAndWatch("5");
    state_.OnChange({"default", "a"}, "12", deleted);
    (void)state_.OnIdleTimeout();

    EXPECT_EQ(state_.OnVersionCheck({.resource_version = "20"}, found).problem, "") << description;

    EXPECT_EQ(state_.state(), State::kWatching) << description;
  }
}

TEST_F(ReflectorStateTest, TheWatchResumesIfTheLastChangedObjectCannotBeDecoded) {
  ListAndWatch("5");
  state_.OnChange({"default", "a"}, "12", /*deleted=*/false);
  (void)state_.OnIdleTimeout();

  (void)state_.OnVersionCheck({.resource_version = "20", .skipped = {{{"default", "a"}, "bad"}}});

  EXPECT_EQ(state_.state(), State::kWatching);
}

// A server rejects valid credentials with 401 or 403 while it starts. A watch from a version that
// the restored etcd does not have yet would stay silent.
TEST_F(ReflectorStateTest, TheWatchDoesNotResumeBeforeTheNewestVersionIsRead) {
  for (const int code : {401, 403, 429, 500, 503}) {
    ListAndWatch("12");
    (void)state_.OnIdleTimeout();

    EXPECT_GT(state_.OnFailure(ApiFailure(code)).delay, 0s) << code;

    EXPECT_EQ(state_.state(), State::kCheckingVersion) << code;
  }
}

TEST_F(ReflectorStateTest, ACheckOfTheVersionThatFailsWith404Relists) {
  ListAndWatch("12");
  (void)state_.OnIdleTimeout();

  EXPECT_GT(state_.OnFailure(ApiFailure(404)).delay, 0s);

  EXPECT_EQ(state_.state(), State::kListingPages);
  List("20");
  EXPECT_TRUE(state_.MayFollowRestore()) << "the kind may come from the backup";
}

TEST_F(ReflectorStateTest, WithoutBookmarksTheIdleDeadlineIsFiveSecondsAfterTheWatchTimeout) {
  ListAndWatch("7");
  clock_.Advance(100s);
  state_.OnEvent("8", false);

  EXPECT_EQ(state_.IdleDeadline(), TimePoint{} + watch_.timeout + 5s);
}

TEST_F(ReflectorStateTest, AfterABookmarkTheIdleDeadlineIs75SecondsAfterTheLastEvent) {
  ListAndWatch("7");
  clock_.Advance(60s);
  state_.OnEvent("8", true);
  EXPECT_EQ(state_.IdleDeadline(), clock_.Now() + 75s);

  clock_.Advance(10s);
  state_.OnEvent("9", false);
  EXPECT_EQ(state_.IdleDeadline(), clock_.Now() + 75s);
}

TEST_F(ReflectorStateTest, AWatchIsNotIdleWithinFiveSecondsAfterAPageOfAnAudit) {
  ListAndWatch("7");
  state_.OnEvent("8", true);
  clock_.Advance(60s);
  state_.OnAuditPage();
  EXPECT_EQ(state_.IdleDeadline(), clock_.Now() + 15s);

  clock_.Advance(20s);
  state_.OnAuditPage();
  EXPECT_EQ(state_.IdleDeadline(), clock_.Now() + 5s);
}

TEST_F(ReflectorStateTest, AMalformedFrameResumesTheWatchAndTheThirdConsecutiveOneRelists) {
  ListAndWatch("7");
  (void)state_.OnFailure(MalformedFrame());
  (void)state_.OnFailure(MalformedFrame());
  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(state_.StartWatch().resource_version, "7");

  const auto next = state_.OnFailure(MalformedFrame());

  EXPECT_EQ(state_.state(), State::kListing);
  EXPECT_THAT(next.problem, HasSubstr("after resource version 7"));
}

/// A ReflectorState that lists with a watch.
class StreamingListTest : public ::testing::Test {
 protected:
  void ExpectListsForAnHour() {
    EXPECT_EQ(state_.state(), State::kListing);
    state_.OnListPage({.resource_version = "7"});
    clock_.Advance(1h - 1s);
    (void)state_.OnFailure(ApiFailure(410));
    EXPECT_EQ(state_.state(), State::kListing);
    state_.OnListPage({.resource_version = "7"});
    clock_.Advance(1s);
    (void)state_.OnFailure(ApiFailure(410));
    EXPECT_EQ(state_.state(), State::kStreamingList);
  }

  kopp::testing::FakeClock clock_;
  ReflectorState state_{{.clock = clock_, .seed = 1, .use_watch_list = true}};
};

TEST_F(StreamingListTest, TheFirstWatchRequestsTheNewestObjectsAndGoesOnAsTheWatch) {
  EXPECT_EQ(state_.state(), State::kStreamingList);
  const WatchOptions options = state_.StartWatch();
  EXPECT_TRUE(options.send_initial_events);
  EXPECT_EQ(options.resource_version, "");

  state_.OnInitialEventsEnd("7");

  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(state_.resource_version(), "7");
  EXPECT_FALSE(state_.StartWatch().send_initial_events);
}

TEST_F(StreamingListTest, ARelistRequestsObjectsThatAreNotOlderThanTheLastVersion) {
  (void)state_.StartWatch();
  state_.OnInitialEventsEnd("7");
  (void)state_.OnFailure(ApiFailure(410));

  EXPECT_EQ(state_.state(), State::kStreamingList);
  EXPECT_EQ(state_.StartWatch().resource_version, "7");
}

TEST_F(StreamingListTest, AServerThatRejectsItIsListedWithoutDelayForAnHour) {
  for (const int code : {400, 405, 415, 422, 501}) {
    ReflectorState state{{.clock = clock_, .seed = 1, .use_watch_list = true}};
    (void)state.StartWatch();
    const auto next = state.OnFailure(ApiFailure(code));
    EXPECT_EQ(next.delay, 0s) << code;
    EXPECT_TRUE(next.minor) << code;
    EXPECT_EQ(state.state(), State::kListing) << code;
  }
  (void)state_.StartWatch();
  (void)state_.OnFailure(ApiFailure(400));
  ExpectListsForAnHour();
}

TEST_F(StreamingListTest, AServerWhoseEtcdCannotReportProgressIsListedWithoutDelay) {
  (void)state_.StartWatch();
  const auto next = state_.OnFailure(std::make_exception_ptr(ApiError(
      "WATCH /api/v1/pods",
      {.message = "a watch stream was requested by the client but the required storage feature "
                  "RequestWatchProgress is disabled",
       .code = 500})));

  EXPECT_EQ(next.delay, 0s);
  ExpectListsForAnHour();
}

TEST_F(StreamingListTest, AWatchWithoutAnObjectOrTheEndFor30SecondsIsReplacedByAList) {
  (void)state_.StartWatch();
  clock_.Advance(20s);
  state_.OnInitialObject();
  EXPECT_EQ(state_.IdleDeadline(), clock_.Now() + 30s);
  clock_.Advance(30s);

  EXPECT_THAT(state_.OnIdleTimeout().problem, HasSubstr("nor the end of the initial events"));

  ExpectListsForAnHour();
}

TEST_F(StreamingListTest, AWatchThatEndsBeforeTheEndOfTheInitialEventsIsReplacedByAList) {
  (void)state_.StartWatch();

  EXPECT_EQ(state_.OnWatchEnd().delay, 0s);

  ExpectListsForAnHour();
}

TEST_F(StreamingListTest, AStreamingListIsRepeatedOnceAfterAFailureAndThenReplacedByAList) {
  for (const auto& failure : {ConnectionReset(), ApiFailure(500), MalformedFrame()}) {
    ReflectorState state{{.clock = clock_, .seed = 1, .use_watch_list = true}};
    (void)state.StartWatch();
    EXPECT_GT(state.OnFailure(failure).delay, 0s);
    EXPECT_EQ(state.state(), State::kStreamingList);
    (void)state.StartWatch();
    EXPECT_GT(state.OnFailure(failure).delay, 0s);
    EXPECT_EQ(state.state(), State::kListing);
  }
}

TEST_F(StreamingListTest, FailuresBeforeASuccessDoNotCountAgainstTheNextStreamingList) {
  for (int i = 0; i < 3; ++i) {
    (void)state_.StartWatch();
    (void)state_.OnFailure(ConnectionReset());
    (void)state_.StartWatch();
    state_.OnInitialEventsEnd("7");
    (void)state_.OnFailure(ApiFailure(410));

    EXPECT_EQ(state_.state(), State::kStreamingList);
  }
}

// 404: the CustomResourceDefinition is not installed yet.
TEST_F(StreamingListTest, TooManyRequestsAndAMissingResourceAreNotFailuresOfStreaming) {
  for (const int code : {429, 404, 429, 404, 404}) {
    (void)state_.StartWatch();
    EXPECT_GT(state_.OnFailure(ApiFailure(code)).delay, 0s) << code;
    EXPECT_EQ(state_.state(), State::kStreamingList) << code;
  }
}

TEST_F(StreamingListTest, AnUnavailableVersionListsTheNewestVersionInPagesWithoutDelay) {
  (void)state_.StartWatch();
  state_.OnInitialEventsEnd("1000");
  (void)state_.OnFailure(ApiFailure(410));
  (void)state_.StartWatch();
  const auto too_large = std::make_exception_ptr(ApiError(
      "WATCH /x", {.message = "Too large resource version: 1000, current: 3", .code = 504}));

  EXPECT_EQ(state_.OnFailure(too_large).delay, 0s);

  EXPECT_EQ(state_.state(), State::kListingPages);
}

}  // namespace
}  // namespace kopp::informer
