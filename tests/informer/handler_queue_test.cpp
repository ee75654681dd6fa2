#include "handler_queue.hpp"

#include "widget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer::detail {
namespace {

using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = HandlerEvent::Type;

AnyObject WidgetOfSize(int size, const std::string& name) {
  return std::make_shared<const Widget>(MakeWidget(name).WithSize(size));
}
HandlerEvent Add(int size, const std::string& name = "a") {
  return {.type = Type::kAdd, .object = WidgetOfSize(size, name)};
}
HandlerEvent Update(int before, int after, const std::string& name = "a") {
  return {.type = Type::kUpdate,
          .object = WidgetOfSize(after, name),
          .before = WidgetOfSize(before, name)};
}
HandlerEvent Delete(int size, const std::string& name = "a") {
  return {.type = Type::kDelete, .object = WidgetOfSize(size, name)};
}

std::string ToText(const HandlerEvent& event) {
  if (event.type == Type::kSynced) return "synced";
  const auto text = [](const AnyObject& object) {
    return object.metadata().name + "=" + std::to_string(object.As<Widget>()->spec.size);
  };
  switch (event.type) {
    case Type::kAdd:
      return (event.in_initial_list ? "initial " : "add ") + text(event.object);
    case Type::kUpdate:
      return "update " + text(event.before) + " to " + text(event.object);
    default:
      return (event.final_state_unknown ? "tombstone " : "delete ") + text(event.object);
  }
}

std::vector<std::string> Drain(HandlerQueue& queue) {
  std::vector<std::string> events;
  while (!queue.empty()) events.push_back(ToText(queue.Pop()));
  return events;
}

/// Returns what remains of `events` if the handler is busy meanwhile.
std::vector<std::string> Merged(const std::vector<HandlerEvent>& events) {
  HandlerQueue queue;
  for (const HandlerEvent& event : events) queue.Push(event);
  return Drain(queue);
}

TEST(HandlerQueueTest, AnUpdateOfAPendingAddGivesAnAddOfTheNewestState) {
  EXPECT_THAT(Merged({Add(1), Update(1, 2), Update(2, 3)}), ElementsAre("add a=3"));
}

TEST(HandlerQueueTest, APendingAddOfTheInitialListStaysOneAfterAnUpdate) {
  HandlerEvent initial = Add(1);
  initial.in_initial_list = true;

  EXPECT_THAT(Merged({initial, Update(1, 2)}), ElementsAre("initial a=2"));
}

TEST(HandlerQueueTest, OnlyAnEventThatWasNotMergedIsAWatchEvent) {
  const auto flags = [](std::vector<HandlerEvent> events) {
    HandlerQueue queue;
    for (HandlerEvent& event : events) {
      event.is_watch_event = true;
      queue.Push(std::move(event));
    }
    std::vector<bool> result;
    while (!queue.empty()) result.push_back(queue.Pop().is_watch_event);
    return result;
  };
  EXPECT_THAT(flags({Add(1), Update(1, 2, "b"), Delete(3, "c")}), ElementsAre(true, true, true));
  EXPECT_THAT(flags({Add(1), Update(1, 2)}), ElementsAre(false));
  EXPECT_THAT(flags({Update(1, 2), Update(2, 3)}), ElementsAre(false));
  EXPECT_THAT(flags({Update(1, 2), Delete(2)}), ElementsAre(false, false));
  EXPECT_THAT(flags({Delete(1), Add(2)}), ElementsAre(true, false));
}

TEST(HandlerQueueTest, AnUpdateThatWasMergedWithAResyncIsNoWatchEvent) {
  HandlerQueue queue;
  HandlerEvent update = Update(1, 2);
  update.is_watch_event = true;
  queue.Push(update);
  queue.Push({.type = Type::kUpdate, .object = update.object, .before = update.object});

  EXPECT_FALSE(queue.Pop().is_watch_event);
}

TEST(HandlerQueueTest, ADeletionOfAPendingAddLeavesNothing) {
  EXPECT_THAT(Merged({Add(1), Update(1, 2), Delete(2)}), IsEmpty());
}

TEST(HandlerQueueTest, PendingUpdatesBecomeOneUpdateFromTheFirstStateToTheNewest) {
  EXPECT_THAT(Merged({Update(1, 2), Update(2, 3), Update(3, 4)}), ElementsAre("update a=1 to a=4"));
}

TEST(HandlerQueueTest, AResyncOfAPendingObjectChangesNothing) {
  EXPECT_THAT(Merged({Add(1), Update(1, 1)}), ElementsAre("add a=1"));
  EXPECT_THAT(Merged({Update(1, 2), Update(2, 2)}), ElementsAre("update a=1 to a=2"));
}

TEST(HandlerQueueTest, AnUpdateOfAPendingResyncIsAnUpdate) {
  EXPECT_THAT(Merged({Update(1, 1), Update(1, 2)}), ElementsAre("update a=1 to a=2"));
}

TEST(HandlerQueueTest, ADeletionOfAPendingUpdateComesAfterAnUpdateToTheLastState) {
  EXPECT_THAT(Merged({Update(1, 2), Update(2, 3), Delete(3)}),
              ElementsAre("update a=1 to a=3", "delete a=3"));
}

TEST(HandlerQueueTest, ARecreationAfterAPendingUpdateAndADeletionGivesAllThreeInOrder) {
  EXPECT_THAT(Merged({Update(1, 2), Delete(2), Add(3)}),
              ElementsAre("update a=1 to a=2", "delete a=2", "add a=3"));
}

TEST(HandlerQueueTest, ADeletionReplacesAPendingResync) {
  const AnyObject object = WidgetOfSize(1, "a");

  EXPECT_THAT(Merged({{.type = Type::kUpdate, .object = object, .before = object}, Delete(1)}),
              ElementsAre("delete a=1"));
}

TEST(HandlerQueueTest, ATombstoneStaysATombstone) {
  HandlerEvent tombstone = Delete(2);
  tombstone.final_state_unknown = true;

  EXPECT_THAT(Merged({Update(1, 2), tombstone}), ElementsAre("update a=1 to a=2", "tombstone a=2"));
}

TEST(HandlerQueueTest, ARecreationAfterAPendingDeletionGivesBothInOrder) {
  EXPECT_THAT(Merged({Delete(1), Add(2), Update(2, 3)}), ElementsAre("delete a=1", "add a=3"));
}

TEST(HandlerQueueTest, ARecreationThatIsDeletedAgainLeavesTheFirstDeletion) {
  EXPECT_THAT(Merged({Delete(1), Add(2), Delete(2)}), ElementsAre("delete a=1"));
  EXPECT_THAT(Merged({Delete(1), Add(2), Delete(2), Add(3)}), ElementsAre("delete a=1", "add a=3"));
}

TEST(HandlerQueueTest, ADeletionAfterThePreviousDeletionWasTakenCancelsThePendingAdd) {
  HandlerQueue queue;
  for (const HandlerEvent& event : {Delete(1), Add(2)}) queue.Push(event);
  ASSERT_EQ(ToText(queue.Pop()), "delete a=1");

  queue.Push(Delete(2));

  EXPECT_TRUE(queue.empty());
}

TEST(HandlerQueueTest, EventsAfterATakenEventAreNotMergedWithIt) {
  HandlerQueue queue;
  queue.Push(Add(1));
  ASSERT_EQ(ToText(queue.Pop()), "add a=1");

  queue.Push(Update(1, 2));
  queue.Push(Delete(2));

  EXPECT_THAT(Drain(queue), ElementsAre("update a=1 to a=2", "delete a=2"));
}

TEST(HandlerQueueTest, ObjectsAreInTheOrderOfTheirFirstPendingEvent) {
  EXPECT_THAT(Merged({Add(1, "a"), Add(1, "b"), Update(1, 2, "a"), Add(1, "c")}),
              ElementsAre("add a=2", "add b=1", "add c=1"));
}

TEST(HandlerQueueTest, AnObjectThatIsAddedAgainAfterItLeftTheQueueIsLast) {
  EXPECT_THAT(Merged({Add(1, "a"), Add(1, "b"), Delete(1, "a"), Add(2, "a")}),
              ElementsAre("add b=1", "add a=2"));
}

TEST(HandlerQueueTest, TheEndOfTheInitialListComesAfterAllEarlierEvents) {
  EXPECT_THAT(Merged({Add(1, "a"), HandlerEvent{}, Add(1, "b"), Update(1, 2, "a")}),
              ElementsAre("add a=2", "synced", "add b=1"));
}

TEST(HandlerQueueTest, TheSizeIsTheNumberOfObjectsHoweverOftenTheyChange) {
  HandlerQueue queue;
  for (int round = 0; round < 1000; ++round) {
    for (const char* name : {"a", "b"}) {
      queue.Push(Delete(round, name));
      queue.Push(Add(round, name));
      queue.Push(Update(round, round + 1, name));
    }
  }

  EXPECT_EQ(queue.size(), 2);
  EXPECT_EQ(Drain(queue).size(), 4);
}

}  // namespace
}  // namespace kopp::informer::detail
