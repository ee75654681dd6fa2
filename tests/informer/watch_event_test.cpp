#include "informer_fixture.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/filtering_handler.hpp>
#include <kopp/informer/handlers.hpp>

namespace kopp::informer {
namespace {

using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;

/// Tests of KeyEvent::is_watch_event.
class WatchEventTest : public InformerTest {
 protected:
  /// Returns a function that records the type of each event, and "one" if it is a watch event.
  EnqueueFunction RecordingFunction() {
    return [this](const ObjectKey& key, int, const KeyEvent& event) {
      const std::string type = event.type == KeyEvent::Type::kAdd      ? "add "
                               : event.type == KeyEvent::Type::kUpdate ? "update "
                                                                       : "delete ";
      event_log_.Append((event.is_watch_event ? "one " : "") + type + key.name);
    };
  }
  void AddHandler(AnyEventHandler handler, Delivery delivery = Delivery::kInformerThread) {
    informer_.AddHandler(std::move(handler), {.delivery = delivery});
  }
  void Start() {
    StartAndWaitForSync();
    AwaitWatchRequest(1);
  }
  /// Makes the informer list and watch again.
  void Relist() {
    source_.FailWatch(ApiError("WATCH", {.code = 410}));
    AdvanceUntilRequests(4, std::chrono::milliseconds(100));
    source_.AwaitIdleWatch();
  }
};

TEST_F(WatchEventTest, EventsOfAWatchAreWatchEventsAndThoseOfTheFirstListAreNot) {
  source_.Set(MakeWidget("listed"));
  AddHandler(EnqueueKey(RecordingFunction()));
  Start();

  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("a").WithSize(2));
  source_.Delete(MakeWidget("a"));

  EXPECT_THAT(event_log_.Await(4),
              ElementsAre("add listed", "one add a", "one update a", "one delete a"));
}

TEST_F(WatchEventTest, TheChangesOfANewListAreMerged) {
  AddHandler(EnqueueKey(RecordingFunction()));
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  Start();

  source_.DropNextEvent();
  source_.Set(MakeWidget("a").WithSize(2));
  source_.DropNextEvent();
  source_.Set(MakeWidget("c"));
  source_.DropNextEvent();
  source_.Delete(MakeWidget("b"));
  Relist();

  EXPECT_THAT(event_log_.Await(5), ElementsAre("add a", "add b", "delete b", "update a", "add c"));
  source_.Set(MakeWidget("a").WithSize(3));
  EXPECT_EQ(event_log_.Await(6).back(), "one update a");
}

TEST_F(WatchEventTest, AnEventWithAnUnchangedVersionIsNoWatchEvent) {
  AddHandler(EnqueueKey(RecordingFunction()));
  Start();
  source_.Set(MakeWidget("a"));

  source_.SendEvent(EventType::kModified, MakeWidget("a").WithResourceVersion("1"));
  source_.SendEvent(EventType::kDeleted, MakeWidget("a").WithResourceVersion("1"));

  EXPECT_THAT(event_log_.Await(3), ElementsAre("one add a", "update a", "delete a"));
}

TEST_F(WatchEventTest, AfterAnUndecodableEventNoEventIsAWatchEventUntilTheNextList) {
  AddHandler(EnqueueKey(RecordingFunction()));
  Start();
  source_.SendSkippedEvent("default/a: malformed");

  source_.Set(MakeWidget("a"));
  EXPECT_EQ(event_log_.Await(1).back(), "add a");
  source_.AwaitIdleWatch();
  Relist();
  source_.Set(MakeWidget("b"));

  EXPECT_EQ(event_log_.Await(3).back(), "one add b");
}

TEST_F(WatchEventTest, ADeletionWithMetadataOnlyIsNoWatchEvent) {
  AddHandler(EnqueueKey(RecordingFunction()));
  Start();
  source_.Set(MakeWidget("a"));

  source_.SendDeletionWithMetadataOnly(MakeWidget("a").WithResourceVersion("2"));

  EXPECT_THAT(event_log_.Await(2), ElementsAre("one add a", "delete a"));
}

TEST_F(WatchEventTest, AHandlerOnItsOwnThreadThatIsNotBusyGetsEachEvent) {
  AddHandler(EnqueueAnyMapped(RecordingFunction(),
                              [](const AnyObject& object) {
                                return std::vector{object.key(), ObjectKey{"default", "other"}};
                              }),
             Delivery::kOwnThread);
  Start();

  source_.Set(MakeWidget("a"));
  EXPECT_THAT(event_log_.Await(2), ElementsAre("one add a", "one add other"));
  source_.Set(MakeWidget("a").WithSize(2));

  EXPECT_EQ(event_log_.Await(4).back(), "one update other");
}

// The state in the deletion is the last one that matched: not that of the event.
TEST_F(WatchEventTest, AFilterThatTurnsAnUpdateIntoADeletionHidesWhichEventItWas) {
  AddHandler(AnyFilteringHandler(
      [](const AnyObject& object) { return object.As<Widget>()->spec.size < 3; },
      EnqueueKey(RecordingFunction())));
  Start();

  for (const int size : {1, 2, 3, 1}) source_.Set(MakeWidget("a").WithSize(size));

  EXPECT_THAT(event_log_.Await(4), ElementsAre("one add a", "one update a", "delete a", "add a"));
}

TEST_F(WatchEventTest, AnEventThatAHandlerPassesOnForAnotherObjectIsNoWatchEvent) {
  const AnyEventHandler enqueue = EnqueueKey(RecordingFunction());
  AddHandler({.on_add = [&](const AnyObject&, bool initial) {
    enqueue.on_add(std::make_shared<const Widget>(MakeWidget("b")), initial);
  }});
  Start();
  source_.Set(MakeWidget("a"));

  EXPECT_THAT(event_log_.Await(1), ElementsAre("add b"));
  runner_ = {};  // before `enqueue` is destroyed
}

// A handler that merges events itself.
TEST_F(WatchEventTest, AnUpdateFromAnOlderStateIsNoWatchEvent) {
  AnyEventHandler enqueue = EnqueueKey(RecordingFunction());
  AnyObject first;
  AddHandler({.on_add = [&](const AnyObject& object, bool) { first = object; },
              .on_update =
                  [&](const AnyObject&, const AnyObject& after) {
                    if (after.As<Widget>()->spec.size == 3) enqueue.on_update(first, after);
                  }});
  Start();

  for (const int size : {1, 2, 3}) source_.Set(MakeWidget("a").WithSize(size));

  EXPECT_THAT(event_log_.Await(1), ElementsAre("update a"));
  runner_ = {};  // before `first` is destroyed
}

}  // namespace
}  // namespace kopp::informer
