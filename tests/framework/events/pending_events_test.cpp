#include "events/pending_events.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr TimePoint kNow{100s};

PendingEvent EventOf(const std::string& ns, const std::string& reason) {
  return {.occurrence = {.object = {.ns = ns}, .reason = reason}, .request = {.key = {ns, reason}}};
}

class PendingEventsTest : public ::testing::Test {
 protected:
  std::optional<std::string> Add(const std::string& ns, const std::string& reason) {
    return events_.Add(ns, EventOf(ns, reason));
  }
  std::string Take(TimePoint now = kNow) {
    const auto event = events_.Take(now);
    return event ? event->occurrence.reason : "none";
  }
  /// Takes the Event "a1" of the namespace "a", and puts it back with a wait of 10 s.
  void MakeNamespaceAWait() {
    Add("a", "a1");
    events_.PutBack(*events_.Take(kNow), kNow + 10s);
  }

  PendingEvents events_;
};

TEST_F(PendingEventsTest, NamespacesTakeTurnsAndKeepTheirOrder) {
  for (const char* reason : {"a1", "a2", "a3"}) Add("a", reason);
  Add("b", "b1");
  Add("b", "b2");
  Add("c", "c1");

  std::vector<std::string> taken;
  for (int i = 0; i < 7; ++i) taken.push_back(Take());

  EXPECT_THAT(taken, ElementsAre("a1", "b1", "c1", "a2", "b2", "a3", "none"));
}

TEST_F(PendingEventsTest, AnEventThatWasPutBackDelaysOnlyItsNamespace) {
  MakeNamespaceAWait();
  Add("a", "a2");
  Add("b", "b1");

  EXPECT_EQ(Take(), "b1");
  EXPECT_EQ(Take(), "none");
  EXPECT_EQ(events_.NextTime(), kNow + 10s);
  EXPECT_EQ(Take(kNow + 10s), "a1");
  EXPECT_EQ(Take(kNow + 10s), "a2");
  EXPECT_EQ(events_.NextTime(), TimePoint::max());
}

TEST_F(PendingEventsTest, EndWaitsMakesNamespacesThatWaitReady) {
  MakeNamespaceAWait();

  events_.EndWaits();

  EXPECT_EQ(Take(), "a1");
}

TEST_F(PendingEventsTest, AFullQueueDropsTheNewestEventOfTheNamespaceThatHasMost) {
  for (std::size_t i = 1; i <= PendingEvents::kCapacity; ++i) Add("a", "a" + std::to_string(i));

  EXPECT_EQ(Add("a", "too many"), "a");
  EXPECT_EQ(Add("b", "b1"), "a");
  EXPECT_EQ(Take(), "a1");
  EXPECT_EQ(Take(), "b1");
  EXPECT_EQ(events_.Remove("a"), PendingEvents::kCapacity - 2);
}

TEST_F(PendingEventsTest, NamespacesOfAFullQueueHaveEquallyManyEventsAtMost) {
  for (std::size_t i = 0; i < PendingEvents::kCapacity; ++i) Add("a", "a");
  for (std::size_t i = 0; i < PendingEvents::kCapacity; ++i) Add("b", "b");

  EXPECT_EQ(events_.Remove("a"), PendingEvents::kCapacity / 2);
  EXPECT_EQ(events_.Clear(), PendingEvents::kCapacity / 2);
}

TEST_F(PendingEventsTest, AFullQueueOfNamespacesWithOneEventEachDropsTheNewEvent) {
  for (std::size_t i = 0; i < PendingEvents::kCapacity; ++i) Add("n" + std::to_string(i), "first");

  EXPECT_EQ(Add("another", "first"), "another");
  EXPECT_EQ(Add("n0", "second"), "n0");
  EXPECT_EQ(events_.Clear(), PendingEvents::kCapacity);
}

}  // namespace
}  // namespace kopp
