#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

/// An item without a default constructor.
struct Number {
  explicit Number(int number) : value(number) {}
  bool operator==(const Number&) const = default;

  int value;
};

}  // namespace
}  // namespace kopp::workqueue

template <>
struct std::hash<kopp::workqueue::Number> {
  std::size_t operator()(const kopp::workqueue::Number& number) const {
    return std::hash<int>{}(number.value);
  }
};

namespace kopp::workqueue {
namespace {

class SnapshotTest : public ::testing::Test {
 protected:
  using Items = std::vector<std::string>;
  using Entries = std::vector<Snapshot<std::string>::Entry>;

  static Items ItemsOf(const Entries& entries) {
    Items items;
    for (const auto& entry : entries) items.push_back(entry.item);
    return items;
  }

  kopp::testing::FakeClock clock_;
  RateLimitingQueue<std::string> queue_{{.clock = clock_, .track_times = true}};
};

TEST_F(SnapshotTest, ListsReadyItemsInOrderWithTheTimeOfTheirAdd) {
  const TimePoint start = clock_.Now();
  queue_.Add("first");
  clock_.Advance(1s);
  queue_.Add("second");

  const auto snapshot = queue_.TakeSnapshot();

  ASSERT_EQ(ItemsOf(snapshot.ready), (Items{"first", "second"}));
  EXPECT_EQ(snapshot.ready[0].at, start);
  EXPECT_EQ(snapshot.ready[1].at, start + 1s);
  EXPECT_EQ(snapshot.ready_count, 2);
}

TEST_F(SnapshotTest, ListsItemsInProcessingWithTheirStartTimeAndDirtyFlag) {
  queue_.Add("a");
  clock_.Advance(1s);
  const TimePoint started = clock_.Now();
  const auto processing = queue_.Get();
  EXPECT_FALSE(queue_.TakeSnapshot().processing.at(0).dirty);
  clock_.Advance(1s);
  queue_.Add("a");

  const auto snapshot = queue_.TakeSnapshot();

  ASSERT_EQ(ItemsOf(snapshot.processing), Items{"a"});
  EXPECT_EQ(snapshot.processing[0].at, started);
  EXPECT_TRUE(snapshot.processing[0].dirty);
  EXPECT_EQ(snapshot.processing_count, 1);
  EXPECT_TRUE(snapshot.ready.empty());
  EXPECT_EQ(processing, "a");
}

TEST_F(SnapshotTest, ListsWaitingItemsByTimeEarliestFirst) {
  const TimePoint start = clock_.Now();
  queue_.AddAfter("late", 3s);
  queue_.AddAfter("early", 1s);
  queue_.AddAfter("later", 4s);
  queue_.AddAfter("middle", 2s);

  const auto snapshot = queue_.TakeSnapshot();

  ASSERT_EQ(ItemsOf(snapshot.waiting), (Items{"early", "middle", "late", "later"}));
  EXPECT_EQ(snapshot.waiting[1].at, start + 2s);
  EXPECT_EQ(snapshot.waiting_count, 4);
}

TEST_F(SnapshotTest, ListsTheFailuresOfEachItem) {
  queue_.Add("ready");
  queue_.AddRateLimited("waiting");
  queue_.AddRateLimited("waiting");

  const auto snapshot = queue_.TakeSnapshot();

  EXPECT_EQ(snapshot.ready.at(0).failures, 0);
  EXPECT_EQ(snapshot.waiting.at(0).failures, 2);
}

TEST_F(SnapshotTest, CountsEachDoneOfAnItemThatIsNotInProcessing) {
  queue_.Add("a");
  queue_.Done("a");
  queue_.Done("unknown");
  const auto processing = queue_.Get();
  queue_.Done(*processing);
  queue_.Done(*processing);

  EXPECT_EQ(queue_.TakeSnapshot().stray_dones, 3);
}

TEST_F(SnapshotTest, TheLimitBoundsTheListsButNotTheCounts) {
  for (int i = 0; i < 100; ++i) {
    queue_.Add("processing " + std::to_string(i));
    static_cast<void>(queue_.Get());
    queue_.AddAfter("waiting " + std::to_string(i), 1s * (100 - i));
  }
  for (int i = 0; i < 100; ++i) queue_.Add("ready " + std::to_string(i));

  const auto snapshot = queue_.TakeSnapshot(2);

  EXPECT_EQ(ItemsOf(snapshot.ready), (Items{"ready 0", "ready 1"}));
  EXPECT_EQ(ItemsOf(snapshot.waiting), (Items{"waiting 99", "waiting 98"}));
  EXPECT_EQ(snapshot.processing.size(), 2);
  EXPECT_EQ(snapshot.ready_count, 100);
  EXPECT_EQ(snapshot.waiting_count, 100);
  EXPECT_EQ(snapshot.processing_count, 100);
}

TEST(SnapshotCoalesceTest, TheLimitKeepsTheEarliestOfDelayedAndCoalescedItems) {
  kopp::testing::FakeClock clock;
  CoalescingQueue<int> queue({.clock = clock}, {.quiet = 100ms});
  for (int i = 0; i < 50; ++i) {
    queue.AddCoalesced(i);
    clock.AwaitSleepers(2);
    clock.Advance(1ms);
  }
  queue.AddCoalesced(0);  // at the end of the others
  clock.AwaitSleepers(2);
  queue.AddAfter(100, 51ms + 500us);  // between 1 and 2

  const auto snapshot = queue.TakeSnapshot(3);

  std::vector<int> items;
  for (const auto& entry : snapshot.waiting) items.push_back(entry.item);
  EXPECT_EQ(items, (std::vector<int>{1, 100, 2}));
  EXPECT_EQ(snapshot.waiting_count, 51);
}

TEST_F(SnapshotTest, ReportsWhetherTheQueueIsShuttingDown) {
  queue_.AddAfter("dropped", 1s);
  EXPECT_FALSE(queue_.TakeSnapshot().shutting_down);
  queue_.ShutDown();

  EXPECT_TRUE(queue_.TakeSnapshot().shutting_down);
  EXPECT_EQ(queue_.TakeSnapshot().waiting_count, 0);
}

TEST(SnapshotConsistencyTest, AnItemWhoseDelayPassesIsEitherWaitingOrReady) {
  DelayingQueue<int> queue;
  for (int round = 0; round < 200; ++round) {
    queue.AddAfter(round, 50us);
    for (std::size_t ready = 0; ready == 0;) {
      const auto snapshot = queue.TakeSnapshot();
      ready = snapshot.ready_count;
      ASSERT_EQ(ready + snapshot.waiting_count, 1);
    }
    queue.Done(*queue.Get());
  }
}

TEST(SnapshotOrderTest, ReadyItemsAreListedByPriorityThenByTenant) {
  const auto tenant = [](const std::string& item) { return item.substr(0, 1); };
  Queue<std::string> queue({.order = Order::Fair<std::string>({.tenant = tenant})});
  for (const char* item : {"a1", "b1", "a2"}) queue.Add(item);
  queue.Add("b9", {.priority = 9});
  queue.Add("c9", {.priority = 8});
  static_cast<void>(queue.Get());

  const auto snapshot = queue.TakeSnapshot();

  std::vector<std::string> items;
  for (const auto& entry : snapshot.ready) items.push_back(entry.item);
  EXPECT_EQ(items, (std::vector<std::string>{"c9", "a1", "a2", "b1"}));
  EXPECT_EQ(snapshot.ready[0].priority, 8);
  EXPECT_EQ(snapshot.processing.at(0).priority, 9);
}

TEST(SnapshotTypesTest, AnItemNeedsNoDefaultConstructor) {
  kopp::testing::FakeClock clock;
  CoalescingQueue<Number> queue({.clock = clock}, {.quiet = 100ms});
  queue.AddAfter(Number(1), 1s);
  queue.AddCoalesced(Number(2));

  const auto snapshot = queue.TakeSnapshot(1);

  ASSERT_EQ(snapshot.waiting.size(), 1);
  EXPECT_EQ(snapshot.waiting[0].item, Number(2));
}

TEST(SnapshotTimesTest, TimesAreNulloptWithoutTrackTimes) {
  Queue<int> queue;
  queue.Add(1);

  EXPECT_EQ(queue.TakeSnapshot().ready.at(0).at, std::nullopt);
}

}  // namespace
}  // namespace kopp::workqueue
