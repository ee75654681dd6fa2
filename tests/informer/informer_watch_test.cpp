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

TEST_F(InformerTest, AMissedDeletionAndRecreationIsDeliveredAsDeleteAndAdd) {
  source_.Set(MakeWidget("a").WithSize(1).WithUid("old"));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  source_.Set(MakeWidget("a").WithSize(2).WithUid("new"));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=1", "tombstone a=1", "add a=2"));
}

TEST_F(InformerTest, AWatchThatEndsWithoutErrorIsResumedFromTheLastVersionWithoutARelist) {
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("a"));
  source_.EndWatch();

  AdvanceUntilRequests(3, 100ms);

  EXPECT_THAT(source_.Requests(), ElementsAre(SourceRequest{Verb::kList, "0", 0, ""},
                                              SourceRequest{Verb::kWatch, "0", 0, ""},
                                              SourceRequest{Verb::kWatch, "1", 0, ""}));
}

TEST_F(InformerTest, AnOpenWatchThatIsCutIsResumedWithinASecondWithoutLosingEventsAndIsNoError) {
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  clock_.Advance(10s);
  source_.FailWatch(std::runtime_error("connection reset"));
  source_.Set(MakeWidget("a"));

  AdvanceUntilRequests(4, 100ms);

  EXPECT_THAT(event_log_.Await(1), ElementsAre("add a=0"));
  EXPECT_LE(clock_.Now() - TimePoint{}, 11'100ms);
  EXPECT_THAT(Problems(),
              ElementsAre(::testing::MatchesRegex("connection reset; retrying in [01]\\.[0-9] s")));
  EXPECT_EQ(informer_.Status().errors, 0);
  EXPECT_EQ(source_.Requests()[2], (SourceRequest{Verb::kList, "", 1, ""}));
  EXPECT_EQ(source_.Requests()[3].verb, Verb::kWatch);
}

TEST_F(InformerTest, AnIdleWatchIsReopenedAfter75SecondsOnceTheServerHasSentABookmark) {
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SendBookmark();
  source_.AwaitIdleWatch();

  AdvanceUntilRequests(4, 5s);

  EXPECT_EQ(clock_.Now() - TimePoint{}, 75s);
  ASSERT_THAT(Problems(), ElementsAre(HasSubstr("no event or bookmark for 75 s")));
  EXPECT_EQ(source_.Requests()[2], (SourceRequest{Verb::kList, "", 1, ""}));
  EXPECT_EQ(source_.Requests()[3].verb, Verb::kWatch);
}

TEST_F(InformerTest, AWatchThatSendsABookmarkAndEndsIsReopenedOncePerSecond) {
  StartAndWaitForSync();
  for (std::size_t round = 0; round < 5; ++round) {
    AwaitWatchRequest(round + 1);
    source_.SendBookmark();
    source_.EndWatch();
    AdvanceUntilRequests(round + 3, 100ms);
  }

  EXPECT_GE(clock_.Now() - TimePoint{}, 5s);
  EXPECT_LT(clock_.Now() - TimePoint{}, 6s);
}

TEST_F(InformerTest, AReplayedAddOfADeletedObjectIsIgnored) {
  source_.Set(MakeWidget("a").WithSize(1));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.Delete(MakeWidget("a").WithSize(1));

  source_.SendEvent(EventType::kAdded, MakeWidget("a").WithSize(1).WithResourceVersion("1"));
  AdvanceUntilRequests(4, 100ms);  // the newest version is checked, then the watch resumes
  source_.Set(MakeWidget("b"));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=1", "delete a=1", "add b=0"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, ADeletionThatDoesNotFitTheViewDeliversTheLastStateAsATombstone) {
  source_.Set(MakeWidget("a").WithSize(7));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.SendDeletionWithMetadataOnly(MakeWidget("a").WithResourceVersion("2"));

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=7", "tombstone a=7"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, AnUndecodableEventIsReportedAndTheWatchContinues) {
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SendSkippedEvent("default/x: spec.size: expected an integer, found a string");
  source_.Set(MakeWidget("a"));

  EXPECT_THAT(event_log_.Await(1), ElementsAre("add a=0"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("spec.size")));
}

TEST_F(InformerTest, AnOutdatedDeletionOfAnEarlierObjectWithTheSameNameIsIgnored) {
  source_.Set(MakeWidget("x"));
  source_.Set(MakeWidget("a").WithUid("new"));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.SendEvent(EventType::kDeleted, MakeWidget("a").WithUid("old").WithResourceVersion("1"));
  AdvanceUntilRequests(4, 100ms);  // the newest version is checked, then the watch resumes
  source_.Set(MakeWidget("b"));

  EXPECT_EQ(event_log_.Await(3)[2], "add b=0");
  EXPECT_NE(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, AnEventWithAnOlderResourceVersionIsIgnored) {
  for (int i = 0; i < 9; ++i) source_.Set(MakeWidget("a").WithSize(i));
  AddRecordingHandler();
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.SendEvent(EventType::kModified, MakeWidget("a").WithSize(3).WithResourceVersion("4"));
  AdvanceUntilRequests(4, 100ms);  // the newest version is checked, then the watch resumes
  source_.Set(MakeWidget("b"));

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=8", "add b=0"));
  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 8);
}

TEST_F(InformerTest, RunReturnsWhenStoppedDuringAWatch) {
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  runner_.request_stop();
  runner_.join();

  EXPECT_THROW(informer_.AddHandler(RecordingHandler()), std::logic_error);
  EXPECT_TRUE(informer_.HasSynced()) << "stopping the informer reset HasSynced";
}

}  // namespace
}  // namespace kopp::informer
