// Real threads without control of their schedules: for the sanitizers, and for bugs that the small
// programs of schedule_test.cpp do not show.
#include "model.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::proof {
namespace {

using namespace std::chrono_literals;
using workqueue::DelayingQueue;

constexpr int kKeys = 16;
constexpr int kLast = kKeys;  // a key that is added after all others

/// Counts the adds and the processing of each key.
class KeyCounters {
 public:
  /// Must be called before each Add.
  void CountAdd(int key) { ++Of(key).adds; }

  /// Processes keys until Get returns nullopt.
  void Work(DelayingQueue<Key>& queue, const std::stop_token& stop = {}) {
    while (const auto item = queue.Get(stop)) {
      Counters& counters = Of(item->id);
      if (++counters.processing != 1) shared_ = true;
      ++processing_;
      const bool slow = ++gets_ % 16 == 0;
      counters.processed_adds = counters.adds.load();
      if (slow) std::this_thread::yield();  // so that other threads run now
      --processing_;
      --counters.processing;
      queue.Done(*item);
    }
  }

  /// Blocks until `key` has been processed after its last Add.
  void AwaitProcessed(int key) {
    while (Of(key).processed_adds != Of(key).adds) std::this_thread::yield();
  }
  [[nodiscard]] bool IsProcessing() const { return processing_ != 0; }

  void ExpectExclusive(DelayingQueue<Key>& queue) const {
    EXPECT_FALSE(shared_) << "two workers processed a key at once";
    const auto snapshot = queue.TakeSnapshot();
    EXPECT_EQ(snapshot.processing_count, 0) << "a Done had no effect";
    EXPECT_EQ(snapshot.stray_dones, 0) << "a Done did not find its key in processing";
    EXPECT_EQ(snapshot.ready_count, 0);
  }
  void ExpectNothingLost() const {
    EXPECT_GT(gets_, 0);
    for (std::size_t key = 0; key < counters_.size(); ++key) {
      EXPECT_EQ(counters_.at(key).processed_adds, counters_.at(key).adds) << "key " << key;
    }
  }

 private:
  struct Counters {
    std::atomic<int> adds = 0;
    std::atomic<int> processed_adds = 0;  // the value of `adds` when the key was last processed
    std::atomic<int> processing = 0;
  };
  Counters& Of(int key) { return counters_.at(static_cast<std::size_t>(key)); }

  std::array<Counters, kKeys + 1> counters_;
  std::atomic<int> processing_ = 0;
  std::atomic<int> gets_ = 0;
  std::atomic<bool> shared_ = false;
};

class StressTest : public ::testing::TestWithParam<NamedRules> {
 protected:
  StressTest() { std::cout << "seed " << seed_ << "\n"; }

  /// Starts `count` threads that call each(random) `times` times.
  template <typename Each>
  std::vector<std::jthread> Threads(unsigned count, int times, Each each) {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i) {
      threads.emplace_back([each, times, random = std::minstd_rand(seed_ + i)]() mutable {
        for (int n = 0; n < times; ++n) each(random);
      });
    }
    return threads;
  }
  std::vector<std::jthread> Workers(unsigned count, DelayingQueue<Key>& queue) {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < count; ++i) workers.emplace_back([&] { keys_.Work(queue); });
    return workers;
  }

  const unsigned seed_ = std::random_device{}();
  KeyCounters keys_;
};

int Pick(std::minstd_rand& random, int below) {
  return static_cast<int>(random() % static_cast<unsigned>(below));
}

TEST_P(StressTest, ItemsAddedBeforeADrainAreProcessed) {
  DelayingQueue<Key> queue({.order = GetParam().rules.QueueOrder()});
  auto workers = Workers(4, queue);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)queue.TakeSnapshot(4);
  });

  Threads(4, 30'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    keys_.CountAdd(key);
    queue.Add(Key{key}, Pick(random, 3));
    if (random() % 64 == 0) keys_.AwaitProcessed(key);  // blocks forever if a wake-up was lost
  }).clear();
  queue.ShutDownWithDrain();
  workers.clear();

  keys_.ExpectExclusive(queue);
  keys_.ExpectNothingLost();
}

TEST_P(StressTest, DelayedItemsAreProcessedAfterTheirLastAddAfter) {
  DelayingQueue<Key> queue({.order = GetParam().rules.QueueOrder()});
  auto workers = Workers(3, queue);

  Threads(3, 6'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    keys_.CountAdd(key);
    queue.AddAfter(Key{key}, Pick(random, 200) * 1us, Pick(random, 3));
  }).clear();
  keys_.CountAdd(kLast);
  queue.AddAfter(Key{kLast}, 1ms);
  keys_.AwaitProcessed(kLast);
  queue.ShutDownWithDrain();
  workers.clear();

  keys_.ExpectExclusive(queue);
  keys_.ExpectNothingLost();
}

TEST_P(StressTest, NoAddAfterIsLostOnAFakeClock) {
  kopp::testing::FakeClock clock;
  DelayingQueue<Key> queue({.clock = clock, .order = GetParam().rules.QueueOrder()});
  auto workers = Workers(3, queue);
  std::jthread advancer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) clock.Advance(1s);
  });

  Threads(3, 4'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    keys_.CountAdd(key);
    queue.AddAfter(Key{key}, Pick(random, 5) * 1s, Pick(random, 3));
  }).clear();
  while (queue.TakeSnapshot(0).waiting_count > 0) std::this_thread::yield();
  advancer = {};
  clock.AwaitSleepers(1);  // all due keys are in the queue
  queue.ShutDownWithDrain();
  workers.clear();

  keys_.ExpectExclusive(queue);
  keys_.ExpectNothingLost();
}

TEST_P(StressTest, DrainReturnsWhenAllItemsAreDone) {
  for (int round = 0; round < 200; ++round) {
    DelayingQueue<Key> queue({.order = GetParam().rules.QueueOrder()});
    auto workers = Workers(3, queue);
    for (int key = 0; key < kKeys; ++key) queue.Add(Key{key});

    Threads(2, 1, [&](auto&) {
      queue.ShutDownWithDrain();
      EXPECT_EQ(queue.Len(), 0);
      EXPECT_FALSE(keys_.IsProcessing());
    }).clear();
    workers.clear();

    keys_.ExpectExclusive(queue);
  }
}

TEST_P(StressTest, ConcurrentStopDrainAndShutDownReleaseAllThreads) {
  for (int round = 0; round < 100; ++round) {
    DelayingQueue<Key> queue({.order = GetParam().rules.QueueOrder()});
    std::stop_source stop;
    auto workers = Workers(3, queue);
    std::jthread stopped_worker([&] { keys_.Work(queue, stop.get_token()); });
    auto producers = Threads(3, 200, [&](std::minstd_rand& random) {
      const int key = Pick(random, kKeys);
      if (random() % 4 == 0) return queue.AddAfter(Key{key}, Pick(random, 50) * 1us);
      queue.Add(Key{key}, Pick(random, 3));
    });
    auto drainers = Threads(2, 1, [&](auto&) { queue.ShutDownWithDrain(); });
    stop.request_stop();
    auto shut_down = Threads(1, 1, [&](auto&) { queue.ShutDown(); });

    stopped_worker.join();
    keys_.Work(queue);  // the stopped worker may have left keys when the others had ended
    drainers.clear();
    shut_down.clear();
    producers.clear();
    workers.clear();

    keys_.ExpectExclusive(queue);
  }
}

INSTANTIATE_TEST_SUITE_P(, StressTest, ::testing::ValuesIn(AllOrders()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::proof
