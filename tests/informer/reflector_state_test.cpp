#include "reflector_state_fixture.hpp"

#include <chrono>
#include <exception>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using State = ReflectorState::State;

TEST_F(ReflectorStateTest, TheFirstListAcceptsAnyVersionAndTheWatchStartsFromItsResult) {
  EXPECT_EQ(state_.NextListRequest().resource_version, "0");
  EXPECT_EQ(state_.NextListRequest().limit, 0);

  ListAndWatch("7");

  EXPECT_EQ(state_.state(), State::kWatching);
  EXPECT_EQ(watch_.resource_version, "7");
}

TEST_F(ReflectorStateTest, AConsistentStartListsTheNewestVersionFirst) {
  ReflectorState state{{.clock = clock_, .seed = 1, .consistent_start = true}};
  EXPECT_EQ(state.NextListRequest().resource_version, "");

  state.OnListPage({.resource_version = "7"});
  (void)state.OnFailure(ApiFailure(410));

  EXPECT_EQ(state.NextListRequest().resource_version, "7");
}

TEST_F(ReflectorStateTest, AWatchResumesFromTheLastEventOrBookmark) {
  ListAndWatch("7");
  state_.OnEvent("8", false);
  state_.OnEvent("12", true);
  EXPECT_LE(state_.OnWatchEnd().delay, 1s);

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
  EXPECT_EQ(state_.NextListRequest().resource_version, "9");
}

TEST_F(ReflectorStateTest, AListThatFailsWith410ListsTheNewestVersionInPagesWithoutDelay) {
  const auto next = state_.OnFailure(ApiFailure(410));

  EXPECT_EQ(next.delay, 0s);
  EXPECT_EQ(state_.NextListRequest().resource_version, "");
  EXPECT_EQ(state_.NextListRequest().limit, 500);
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
  EXPECT_EQ(state_.NextListRequest().continue_token, "next");
  EXPECT_EQ(state_.NextListRequest().resource_version, "");
  EXPECT_TRUE(state_.OnListPage({.resource_version = "5"}));

  EXPECT_EQ(state_.state(), State::kWatching);
}

TEST_F(ReflectorStateTest, AnExpiredContinueTokenLeadsToAnUnpagedList) {
  (void)state_.OnFailure(ApiFailure(410));
  state_.OnListPage({.resource_version = "5", .continue_token = "next"});

  EXPECT_EQ(state_.OnFailure(ApiFailure(410)).delay, 0s);

  EXPECT_EQ(state_.state(), State::kListingUnpaged);
  EXPECT_EQ(state_.NextListRequest().limit, 0);
  EXPECT_EQ(state_.NextListRequest().resource_version, "");
}

TEST_F(ReflectorStateTest, APageThatFailsForAnotherReasonRestartsAtTheFirstPage) {
  (void)state_.OnFailure(ApiFailure(410));
  state_.OnListPage({.resource_version = "5", .continue_token = "next"});

  EXPECT_GT(state_.OnFailure(ConnectionReset()).delay, 0s);

  EXPECT_EQ(state_.NextListRequest().continue_token, "");
  EXPECT_EQ(state_.NextListRequest().limit, 500);
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
  EXPECT_THAT(next.problem, HasSubstr("use a version that is served"));
}

TEST_F(ReflectorStateTest, AfterAnIdleTimeoutTheNewestVersionIsReadAndTheWatchResumes) {
  ListAndWatch("12");
  (void)state_.OnIdleTimeout();

  EXPECT_EQ(state_.state(), State::kCheckingVersion);
  EXPECT_EQ(state_.NextListRequest().limit, 1);
  EXPECT_EQ(state_.NextListRequest().resource_version, "") << "\"0\" may be answered from a cache";
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
    EXPECT_EQ(state_.NextListRequest().object, (ObjectKey{"default", "a"}));

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

}  // namespace
}  // namespace kopp::informer
