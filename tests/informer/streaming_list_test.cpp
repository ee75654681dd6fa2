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

// A ReflectorState that lists with a watch.
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
  const WatchRequest options = state_.StartWatch();
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
