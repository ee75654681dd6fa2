// Stress tests with real threads, whose schedules are not controlled. They run under the
// sanitizers, and find bugs that need more work than the small programs of
// queue_schedules_test.cpp.
#include "../test_seed.hpp"
#include "model.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::model_checking {
namespace {

using namespace std::chrono_literals;
using workqueue::DelayingQueue;

constexpr int kItems = 16;
constexpr int kLastItem = kItems;  // an item that is added after all others

/// Processes items, and counts the Adds and the processing of each item. Items are identified by
/// TestItem::id.
class ItemProcessor {
 public:
  /// Counts one Add of the item `id`. Call it before the Add.
  void CountAdd(int id) { ++Of(id).adds; }

  /// Processes items until Get returns nullopt.
  void ProcessItems(DelayingQueue<TestItem>& queue, const std::stop_token& stop = {}) {
    while (const auto item = queue.Get(stop)) {
      Counters& counters = Of(item->id);
      if (++counters.processing != 1) processed_concurrently_ = true;
      ++processing_;
      const bool slow = ++gets_ % 16 == 0;
      counters.processed_adds = counters.adds.load();
      if (slow) std::this_thread::yield();  // lets other threads run now
      --processing_;
      --counters.processing;
      queue.Done(*item);
    }
  }

  /// Blocks until the item `id` has been processed after its last Add.
  void AwaitProcessed(int id) {
    while (Of(id).processed_adds != Of(id).adds) std::this_thread::yield();
  }
  [[nodiscard]] bool IsProcessing() const { return processing_ != 0; }

  void ExpectExclusiveAndEmpty(DelayingQueue<TestItem>& queue) const {
    EXPECT_FALSE(processed_concurrently_) << "two workers processed an item at the same time";
    const auto snapshot = queue.TakeSnapshot();
    EXPECT_EQ(snapshot.processing_count, 0)
        << "an item is still in processing after all workers have ended";
    EXPECT_EQ(snapshot.stray_dones, 0) << "Done was called for an item that was not in processing";
    EXPECT_EQ(snapshot.ready_count, 0) << "an item is still queued after the drain";
  }
  void ExpectEveryAddProcessed() const {
    EXPECT_GT(gets_, 0) << "no item was processed";
    for (std::size_t id = 0; id < counters_.size(); ++id) {
      EXPECT_EQ(counters_.at(id).processed_adds, counters_.at(id).adds)
          << "item " << id << " was not processed after its last Add";
    }
  }

 private:
  struct Counters {
    std::atomic<int> adds = 0;
    std::atomic<int> processed_adds = 0;  // the value of `adds` when the item was last processed
    std::atomic<int> processing = 0;
  };
  Counters& Of(int id) { return counters_.at(static_cast<std::size_t>(id)); }

  std::array<Counters, kItems + 1> counters_;
  std::atomic<int> processing_ = 0;
  std::atomic<int> gets_ = 0;
  std::atomic<bool> processed_concurrently_ = false;
};

class StressTest : public ::testing::TestWithParam<NamedOrderSpec> {
 protected:
  /// Starts `count` threads that call body(random) `times` times.
  template <typename Body>
  std::vector<std::jthread> StartThreads(unsigned count, int times, Body body) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i) {
      threads.emplace_back([body, times, random = std::minstd_rand(seed_ + i)]() mutable {
        for (int n = 0; n < times; ++n) body(random);
      });
    }
    return threads;
  }
  std::vector<std::jthread> StartWorkers(unsigned count, DelayingQueue<TestItem>& queue) {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < count; ++i)
      workers.emplace_back([&] { processor_.ProcessItems(queue); });
    return workers;
  }

  const unsigned seed_ = TestSeed();
  ItemProcessor processor_;
};

int RandomBelow(std::minstd_rand& random, int bound) {
  return static_cast<int>(random() % static_cast<unsigned>(bound));
}

TEST_P(StressTest, ItemsAddedBeforeADrainAreProcessedExclusivelyAndNoneIsLost) {
  DelayingQueue<TestItem> queue({.order = GetParam().order.QueueOrder()});
  auto workers = StartWorkers(4, queue);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)queue.TakeSnapshot(4);
  });

  StartThreads(4, 30'000, [&](std::minstd_rand& random) {
    const int id = RandomBelow(random, kItems);
    processor_.CountAdd(id);
    queue.Add(TestItem{id}, {.priority = RandomBelow(random, 3)});
    if (random() % 64 == 0) processor_.AwaitProcessed(id);  // blocks forever if a wake-up is lost
  }).clear();
  queue.ShutDownWithDrain();
  workers.clear();

  processor_.ExpectExclusiveAndEmpty(queue);
  processor_.ExpectEveryAddProcessed();
}

TEST_P(StressTest, EachDelayedItemIsProcessedAfterItsLastCallOfAddAfter) {
  DelayingQueue<TestItem> queue({.order = GetParam().order.QueueOrder()});
  auto workers = StartWorkers(3, queue);

  StartThreads(3, 6'000, [&](std::minstd_rand& random) {
    const int id = RandomBelow(random, kItems);
    processor_.CountAdd(id);
    queue.AddAfter(TestItem{id}, RandomBelow(random, 200) * 1us,
                   {.priority = RandomBelow(random, 3)});
  }).clear();
  processor_.CountAdd(kLastItem);
  queue.AddAfter(TestItem{kLastItem}, 1ms);
  processor_.AwaitProcessed(kLastItem);
  queue.ShutDownWithDrain();
  workers.clear();

  processor_.ExpectExclusiveAndEmpty(queue);
  processor_.ExpectEveryAddProcessed();
}

TEST_P(StressTest, EachDelayedItemIsProcessedAfterItsLastCallOfAddAfterWithAFakeClock) {
  kopp::testing::FakeClock clock;
  DelayingQueue<TestItem> queue({.clock = clock, .order = GetParam().order.QueueOrder()});
  auto workers = StartWorkers(3, queue);
  std::jthread advancer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) clock.Advance(1s);
  });

  StartThreads(3, 4'000, [&](std::minstd_rand& random) {
    const int id = RandomBelow(random, kItems);
    processor_.CountAdd(id);
    queue.AddAfter(TestItem{id}, RandomBelow(random, 5) * 1s, {.priority = RandomBelow(random, 3)});
  }).clear();
  while (queue.TakeSnapshot(0).waiting_count > 0) std::this_thread::yield();
  advancer = {};
  // The thread of the queue sleeps again, so it has added all due items.
  clock.AwaitSleepers(1);
  queue.ShutDownWithDrain();
  workers.clear();

  processor_.ExpectExclusiveAndEmpty(queue);
  processor_.ExpectEveryAddProcessed();
}

TEST_P(StressTest, DrainReturnsWhenAllItemsAreDone) {
  for (int round = 0; round < 200; ++round) {
    DelayingQueue<TestItem> queue({.order = GetParam().order.QueueOrder()});
    auto workers = StartWorkers(3, queue);
    for (int id = 0; id < kItems; ++id) queue.Add(TestItem{id});

    StartThreads(2, 1, [&](auto&) {
      queue.ShutDownWithDrain();
      EXPECT_EQ(queue.Len(), 0);
      EXPECT_FALSE(processor_.IsProcessing());
    }).clear();
    workers.clear();

    processor_.ExpectExclusiveAndEmpty(queue);
  }
}

TEST_P(StressTest, ConcurrentStopDrainAndShutDownUnblockAllThreads) {
  for (int round = 0; round < 100; ++round) {
    DelayingQueue<TestItem> queue({.order = GetParam().order.QueueOrder()});
    std::stop_source stop;
    auto workers = StartWorkers(3, queue);
    std::jthread stopped_worker([&] { processor_.ProcessItems(queue, stop.get_token()); });
    auto producers = StartThreads(3, 200, [&](std::minstd_rand& random) {
      const int id = RandomBelow(random, kItems);
      if (random() % 4 == 0) return queue.AddAfter(TestItem{id}, RandomBelow(random, 50) * 1us);
      queue.Add(TestItem{id}, {.priority = RandomBelow(random, 3)});
    });
    auto drainers = StartThreads(2, 1, [&](auto&) { queue.ShutDownWithDrain(); });
    stop.request_stop();
    auto shut_down = StartThreads(1, 1, [&](auto&) { queue.ShutDown(); });

    stopped_worker.join();
    // The stopped worker can leave an item queued after all other workers have ended.
    processor_.ProcessItems(queue);
    drainers.clear();
    shut_down.clear();
    producers.clear();
    workers.clear();

    processor_.ExpectExclusiveAndEmpty(queue);
  }
}

INSTANTIATE_TEST_SUITE_P(, StressTest, ::testing::ValuesIn(AllOrderSpecs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::model_checking
