#include "widget.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/informer.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::SourceRequest;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verb = SourceRequest::Verb;

/// Records the calls of handlers, with one line of text for each call. Thread-safe.
class EventLog {
 public:
  void Append(std::string line) {
    lines_.Lock()->push_back(std::move(line));
    appended_.notify_all();
  }
  /// Blocks until there are `count` lines, and returns all lines.
  std::vector<std::string> Await(std::size_t count) {
    auto lines = lines_.Lock();
    lines.Wait(appended_, [&] { return lines->size() >= count; });
    return *lines;
  }

 private:
  Guarded<std::vector<std::string>> lines_;
  std::condition_variable appended_;
};

class InformerTest : public ::testing::Test {
 protected:
  /// Returns a handler that appends each call to the event log.
  EventHandler<Widget> RecordingHandler() {
    using Ptr = std::shared_ptr<const Widget>;
    const auto text = [](const Widget& widget) {
      return widget.metadata.name + "=" + std::to_string(widget.spec.size);
    };
    return {
        .on_add =
            [this, text](const Ptr& object, bool initial) {
              event_log_.Append(std::string(initial ? "initial " : "add ") + text(*object));
            },
        .on_update =
            [this, text](const Ptr& before, const Ptr& after) {
              event_log_.Append("update " + text(*before) + " to " + text(*after));
            },
        .on_delete =
            [this, text](const Ptr& object, bool unknown) {
              event_log_.Append(std::string(unknown ? "tombstone " : "delete ") + text(*object));
            },
    };
  }
  void StartAndWaitForSync() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
    informer_.WaitForSync(runner_.get_stop_token());
  }
  /// Blocks until the source has received the request with this index and its watch waits for
  /// events.
  void AwaitWatchRequest(std::size_t index) {
    source_.AwaitRequests(index + 1);
    source_.AwaitIdleWatch();
  }
  /// Advances the clock in steps until the source has received `count` requests in total.
  void AdvanceUntilRequests(std::size_t count, Duration step) {
    clock_.AwaitSleepers(1);
    while (source_.Requests().size() < count) {
      clock_.Advance(step);
      clock_.AwaitSleepers(1);
    }
  }
  std::vector<std::string> Problems() { return *problems_.Lock(); }

  kopp::testing::FakeClock clock_;
  kopp::testing::FakeSource<Widget> source_{clock_};
  EventLog event_log_;
  Guarded<std::vector<std::string>> problems_;
  Informer<Widget> informer_{
      source_, {.clock = clock_, .seed = 1, .on_problem = [this](const std::string& problem, bool) {
                  problems_.Lock()->push_back(problem);
                }}};
  std::jthread runner_;  // declared last, so that it is stopped and destroyed first
};

TEST_F(InformerTest, AfterSyncTheStoreHasTheListAndHandlersGotInitialAdds) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(2));
  informer_.AddHandler(RecordingHandler());
  EXPECT_FALSE(informer_.HasSynced());

  StartAndWaitForSync();

  EXPECT_TRUE(informer_.HasSynced());
  EXPECT_EQ(informer_.store().Size(), 2);
  EXPECT_EQ(informer_.store().Get({"default", "b"})->spec.size, 2);
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "initial b=2"));
}

TEST_F(InformerTest, HandlersGetWatchEventsInOrder) {
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("a").WithSize(2));
  source_.Delete(MakeWidget("a").WithSize(2));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("add a=1", "update a=1 to a=2", "delete a=2"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, TheStoreHasTheNewStateWhenAHandlerIsCalled) {
  EventHandler<Widget> handler;
  handler.on_add = [this](const auto& object, bool) {
    event_log_.Append(informer_.store().Get(KeyOf(*object)) == object ? "in store"
                                                                      : "not in store");
  };
  informer_.AddHandler(std::move(handler));
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();

  EXPECT_THAT(event_log_.Await(1), ElementsAre("in store"));
}

TEST_F(InformerTest, AMissedDeletionIsDeliveredAsATombstoneAfterARelist) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(3, 100ms);

  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "tombstone a=1", "update b=1 to b=1"));
}

TEST_F(InformerTest, AMissedDeletionAndRecreationIsDeliveredAsDeleteAndAdd) {
  source_.Set(MakeWidget("a").WithSize(1).WithUid("old"));
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));

  source_.Set(MakeWidget("a").WithSize(2).WithUid("new"));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("initial a=1", "tombstone a=1", "add a=2"));
}

TEST_F(InformerTest, ADeletionAndRecreationDuringADisconnectIsDeliveredAsDeleteAndAdd) {
  source_.Set(MakeWidget("a").WithSize(1).WithUid("old"));
  informer_.AddHandler(RecordingHandler());
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

TEST_F(InformerTest, AnExceptionFromAHandlerIsReportedAndTheOtherHandlersGetTheEvent) {
  EventHandler<Widget> throwing_handler;
  throwing_handler.on_add = [](const auto&, bool) { throw std::runtime_error("handler failed"); };
  informer_.AddHandler(std::move(throwing_handler));
  informer_.AddHandler(RecordingHandler());
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();

  EXPECT_THAT(event_log_.Await(1), ElementsAre("initial a=0"));
  EXPECT_THAT(Problems(),
              ElementsAre("an on_add handler threw for default/a: handler failed; other "
                          "handlers are not affected"));
}

TEST_F(InformerTest, AResyncSendsUpdatesOnlyToTheHandlerWithThatResyncPeriod) {
  source_.Set(MakeWidget("a").WithSize(1));
  informer_.AddHandler(RecordingHandler(), 30s);
  informer_.AddHandler(
      {.on_update = [this](const auto&, const auto&) { event_log_.Append("unexpected update"); }});
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  clock_.AwaitSleepers(1);
  clock_.Advance(30s);
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=1", "update a=1 to a=1"));
  clock_.AwaitSleepers(1);
  clock_.Advance(29s);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(event_log_.Await(2).size(), 2) << "a resync was sent before its period had passed";
  clock_.Advance(1s);

  EXPECT_EQ(event_log_.Await(3).size(), 3);
  EXPECT_EQ(source_.Requests().size(), 2) << "the resync sent a request";
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

TEST_F(InformerTest, AWatchThatFailsIsResumedAfterABackoffWithoutLosingEvents) {
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.FailWatch(std::runtime_error("connection reset"));
  source_.Set(MakeWidget("a"));

  AdvanceUntilRequests(4, 100ms);

  EXPECT_THAT(event_log_.Await(1), ElementsAre("add a=0"));
  EXPECT_THAT(Problems(),
              ElementsAre(::testing::MatchesRegex("connection reset; retrying in [01]\\.[0-9] s")));
  EXPECT_EQ(source_.Requests()[2], (SourceRequest{Verb::kList, "", 1, ""}));
  EXPECT_EQ(source_.Requests()[3].verb, Verb::kWatch);
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

TEST_F(InformerTest, ARelistThatIsNotJsonIsRepeatedAfterABackoffAndKeepsTheCache) {
  source_.Set(MakeWidget("a"));
  informer_.AddHandler(RecordingHandler());
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

  EXPECT_EQ(clock_.Now() - TimePoint{}, 5s);
}

TEST_F(InformerTest, AfterARestoreOfEtcdEverythingIsListedAgain) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("lost").WithSize(1));
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("lost"));
  source_.SetResourceVersion(1);

  source_.SendBookmark();  // with version 1

  EXPECT_THAT(event_log_.Await(4), ElementsAre("initial a=1", "initial lost=1", "tombstone lost=1",
                                               "update a=1 to a=1"));
}

TEST_F(InformerTest, AReplayedAddOfADeletedObjectIsIgnored) {
  source_.Set(MakeWidget("a").WithSize(1));
  informer_.AddHandler(RecordingHandler());
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
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);

  source_.SendDeletionWithMetadataOnly(MakeWidget("a").WithResourceVersion("2"));

  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=7", "tombstone a=7"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, NoObjectIsDeletedByAListWithAnObjectOfUnknownName) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  informer_.AddHandler(RecordingHandler());
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
  informer_.AddHandler(RecordingHandler());
  source_.FailNextRequest(gone);  // the first list request
  source_.AllowNextRequest();     // the first page
  source_.FailNextRequest(gone);  // the second page
  StartAndWaitForSync();

  EXPECT_THAT(source_.Requests(), ::testing::Contains(SourceRequest{Verb::kList, "", 0, ""}));
  EXPECT_THAT(event_log_.Await(2), ElementsAre("initial a=0", "initial b=0"));
}

TEST_F(InformerTest, AnUndecodableEventIsReportedAndTheWatchContinues) {
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SendSkippedEvent("default/x: spec.size: expected an integer, found a string");
  source_.Set(MakeWidget("a"));

  EXPECT_THAT(event_log_.Await(1), ElementsAre("add a=0"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("spec.size")));
}

TEST_F(InformerTest, AnObjectThatARelistCannotDecodeKeepsItsCachedState) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  informer_.AddHandler(RecordingHandler());
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.ListAsSkipped({"default", "a"});
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(4, 100ms);

  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 1);
  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "update b=1 to b=1", "update a=1 to a=1"));
}

TEST_F(InformerTest, AnOutdatedDeletionOfAnEarlierObjectWithTheSameNameIsIgnored) {
  source_.Set(MakeWidget("x"));
  source_.Set(MakeWidget("a").WithUid("new"));
  informer_.AddHandler(RecordingHandler());
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
  informer_.AddHandler(RecordingHandler());
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

TEST_F(InformerTest, RunReturnsWhenStoppedDuringABackoff) {
  source_.FailNextRequest(std::runtime_error("refused"));
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  clock_.AwaitSleepers(1);

  runner_.request_stop();
  runner_.join();

  EXPECT_FALSE(informer_.HasSynced());
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

}  // namespace
}  // namespace kopp::informer
