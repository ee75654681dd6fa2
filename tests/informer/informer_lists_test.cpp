#include "informer_fixture.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::SourceRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Verb = SourceRequest::Verb;

TEST_F(InformerTest, AfterSyncTheStoreHasTheListAndHandlersGotInitialAdds) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(2));
  AddRecordingHandler();
  EXPECT_FALSE(informer_.HasSynced());

  StartAndWaitForSync();

  EXPECT_TRUE(informer_.HasSynced());
  EXPECT_EQ(informer_.store().Size(), 2);
  EXPECT_EQ(informer_.store().Get({"default", "b"})->spec.size, 2);
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "initial b=2"));
}

TEST_F(InformerTest, AMissedDeletionIsDeliveredAsATombstoneAfterARelist) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(3, 100ms);

  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "tombstone a=1", "update b=1 to b=1"));
}

TEST_F(InformerTest, ADeletionAndRecreationDuringADisconnectIsDeliveredAsDeleteAndAdd) {
  source_.Set(MakeWidget("a").WithSize(1).WithUid("old"));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));
  source_.DropNextEvent();
  source_.Set(MakeWidget("a").WithSize(2).WithUid("new"));
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(3, 100ms);

  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=1", "tombstone a=1", "add a=2"));
}

TEST_F(InformerTest, ARelistThatIsNotJsonIsRepeatedAfterABackoffAndKeepsTheCache) {
  source_.Set(MakeWidget("a"));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.FailNextRequest(DecodeError(DecodeError::Kind::kMalformed, "", "<html> is not JSON"));
  source_.FailWatch(ApiError("WATCH", {.code = 410}));

  AdvanceUntilRequests(3, 100ms);  // the relist fails
  EXPECT_NE(informer_.store().Get({"default", "a"}), nullptr);

  AdvanceUntilRequests(4, 100ms);
  source_.Set(MakeWidget("b"));
  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=0", "update a=0 to a=0", "add b=0"));
  EXPECT_THAT(Problems(), ::testing::Contains(HasSubstr("is not JSON; retrying in")));
}

TEST_F(InformerTest, AfterARestoreOfEtcdEverythingIsListedAgain) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("lost").WithSize(1));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("lost"));
  source_.SetResourceVersion(1);

  source_.SendBookmark();  // with version 1

  EXPECT_THAT(event_log_.Await(4), ElementsAre("initial a=1", "initial lost=1", "tombstone lost=1",
                                               "update a=1 to a=1"));
}

TEST_F(InformerTest, AfterARestoreEverythingIsListedAgainAlthoughOtherWritesHavePassedTheVersion) {
  source_.Set(MakeWidget("before").WithSize(1));
  source_.Set(MakeWidget("a").WithSize(1));  // version 2
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SetResourceVersion(0);
  source_.DropNextEvent();
  source_.Set(MakeWidget("a").WithSize(0));  // version 1
  source_.SetResourceVersion(20);

  source_.EndWatch();
  AdvanceUntilRequests(4, 100ms);

  EXPECT_THAT(Problems(), ::testing::Contains(HasSubstr("default/a went back from 2 to 1")));
  EXPECT_THAT(event_log_.Await(4), ElementsAre("initial a=1", "initial before=1",
                                               "update a=1 to a=0", "update before=1 to before=1"));
}

TEST_F(InformerTest, NoObjectIsDeletedByAListWithAnObjectOfUnknownName) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.ListAsSkipped({"default", "a"}, /*reported_key=*/{});
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(4, 100ms);

  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 1);
  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "update b=1 to b=1", "update a=1 to a=1"));
}

TEST_F(InformerTest, AListWhoseContinueTokenExpiresIsRepeatedUnpagedAndAppliedOnce) {
  source_.SetPageSize(1);
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  const auto gone = ApiError("GET", {.code = 410});
  AddRecordingHandler();
  source_.FailNextRequest(gone);  // the first list request
  source_.AllowNextRequest();     // the first page
  source_.FailNextRequest(gone);  // the second page
  StartAndWaitForSync();

  EXPECT_THAT(source_.Requests(), ::testing::Contains(SourceRequest{Verb::kList, "", 0, ""}));
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=0", "initial b=0"));
}

TEST_F(InformerTest, AnObjectThatARelistCannotDecodeKeepsItsCachedState) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.ListAsSkipped({"default", "a"});
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(4, 100ms);

  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 1);
  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "update b=1 to b=1", "update a=1 to a=1"));
}

TEST_F(InformerTest, AnObjectThatWasKeptAtARestoreOfEtcdGetsLaterEventsInSpiteOfLowerVersions) {
  source_.Set(MakeWidget("b"));
  for (int size = 1; size < 9; ++size) source_.Set(MakeWidget("a").WithSize(size));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.ListAsSkipped({"default", "a"});
  source_.SetResourceVersion(2);
  source_.SendBookmark();  // the restore: everything is listed again
  AdvanceUntilRequests(5, 100ms);
  AwaitWatchRequest(4);

  source_.Set(MakeWidget("a").WithSize(10));  // version 3; the cached one is 9
  source_.Delete(MakeWidget("a").WithSize(10));

  EXPECT_THAT(event_log_.Await(6),
              ElementsAre("initial a=8", "initial b=0", "update b=0 to b=0", "update a=8 to a=8",
                          "update a=8 to a=10", "delete a=10"));
}

TEST_F(InformerTest, WaitForSyncReturnsFalseWhenStoppedBeforeTheFirstList) {
  source_.FailNextRequest(std::runtime_error("refused"));
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  clock_.AwaitSleepers(1);  // the informer waits in its back-off
  std::stop_source waiter_stop;
  std::jthread waiter([&] { waiter_stop.request_stop(); });

  EXPECT_FALSE(informer_.WaitForSync(waiter_stop.get_token()));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("refused")));
}

TEST_F(InformerTest, AServerThatRefusesConnectionsGetsTwoRequestsPerMinuteAndIsListedAfterwards) {
  source_.Set(MakeWidget("a"));
  constexpr std::size_t kFailures = 12;
  for (std::size_t i = 0; i < kFailures; ++i) {
    source_.FailNextRequest(std::runtime_error("connection refused"));
  }
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  AdvanceUntilRequests(kFailures - 2, 100ms);
  const TimePoint before = clock_.Now();

  AdvanceUntilRequests(kFailures, 100ms);
  EXPECT_GE(clock_.Now() - before, 60s);

  AdvanceUntilRequests(kFailures + 1, 100ms);
  EXPECT_TRUE(informer_.WaitForSync(runner_.get_stop_token()));
  EXPECT_NE(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, RunReturnsWhenStoppedDuringABackoff) {
  source_.FailNextRequest(std::runtime_error("refused"));
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  clock_.AwaitSleepers(1);

  runner_.request_stop();
  runner_.join();

  EXPECT_FALSE(informer_.HasSynced());
}

}  // namespace
}  // namespace kopp::informer
