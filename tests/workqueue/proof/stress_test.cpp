// Real threads, as many as hurt, and no control over them: for the sanitizers, and for what the
// schedules of schedule_test.cpp are too small to show.
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
constexpr int kLast = kKeys;  // comes behind all others

/// What producers wanted and workers saw.
class Books {
 public:
  /// Before the Add.
  void Want(int key) { ++Of(key).wanted; }

  /// Works on what comes to the queue's end.
  void Work(DelayingQueue<Key>& queue, const std::stop_token& stop = {}) {
    while (const auto item = queue.Get(stop)) {
      Page& page = Of(item->id);
      if (++page.in_hand != 1) two_hands_ = true;
      ++in_hand_;
      const bool slow = ++gets_ % 16 == 0;
      page.seen = page.wanted.load();
      if (slow) std::this_thread::yield();  // so that others come in between
      --in_hand_;
      --page.in_hand;
      queue.Done(*item);
    }
  }

  /// Blocks until a worker has taken `key` since its last Add.
  void AwaitSeen(int key) {
    while (Of(key).seen != Of(key).wanted) std::this_thread::yield();
  }
  [[nodiscard]] bool SomethingInHand() const { return in_hand_ != 0; }

  void ExpectExclusive(DelayingQueue<Key>& queue) const {
    EXPECT_FALSE(two_hands_) << "a key was in two hands";
    const auto snapshot = queue.TakeSnapshot();
    EXPECT_EQ(snapshot.in_hand_count, 0) << "fewer calls of Done than of Get took effect";
    EXPECT_EQ(snapshot.stray_dones, 0) << "a Done did not find its key in hand";
    EXPECT_EQ(snapshot.ready_count, 0);
  }
  void ExpectNothingLost() const {
    EXPECT_GT(gets_, 0);
    for (std::size_t key = 0; key < pages_.size(); ++key) {
      EXPECT_EQ(pages_.at(key).seen, pages_.at(key).wanted) << "key " << key;
    }
  }

 private:
  struct Page {
    std::atomic<int> wanted = 0;  // the number of the last Add
    std::atomic<int> seen = 0;    // what the last worker to take it saw there
    std::atomic<int> in_hand = 0;
  };
  Page& Of(int key) { return pages_.at(static_cast<std::size_t>(key)); }

  std::array<Page, kKeys + 1> pages_;
  std::atomic<int> in_hand_ = 0;
  std::atomic<int> gets_ = 0;
  std::atomic<bool> two_hands_ = false;
};

class StressTest : public ::testing::TestWithParam<Named> {
 protected:
  StressTest() { std::cout << "seed " << seed_ << "\n"; }

  /// `count` threads that call each(random) `times` times.
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
    for (unsigned i = 0; i < count; ++i) workers.emplace_back([&] { books_.Work(queue); });
    return workers;
  }

  const unsigned seed_ = std::random_device{}();
  Books books_;
};

int Pick(std::minstd_rand& random, int below) {
  return static_cast<int>(random() % static_cast<unsigned>(below));
}

TEST_P(StressTest, WhatWasAddedBeforeADrainIsHandedOut) {
  DelayingQueue<Key> queue({.order = GetParam().rules.OfQueue()});
  auto workers = Workers(4, queue);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)queue.TakeSnapshot(4);
  });

  Threads(4, 30'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    books_.Want(key);
    queue.Add(Key{key}, Pick(random, 3));
    if (random() % 64 == 0) books_.AwaitSeen(key);  // a wake-up that was lost would be missed now
  }).clear();
  queue.ShutDownWithDrain();
  workers.clear();

  books_.ExpectExclusive(queue);
  books_.ExpectNothingLost();
}

TEST_P(StressTest, WhatIsDelayedComesAfterItsLastWish) {
  DelayingQueue<Key> queue({.order = GetParam().rules.OfQueue()});
  auto workers = Workers(3, queue);

  Threads(3, 6'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    books_.Want(key);
    queue.AddAfter(Key{key}, Pick(random, 200) * 1us, Pick(random, 3));
  }).clear();
  books_.Want(kLast);
  queue.AddAfter(Key{kLast}, 1ms);
  books_.AwaitSeen(kLast);
  queue.ShutDownWithDrain();
  workers.clear();

  books_.ExpectExclusive(queue);
  books_.ExpectNothingLost();
}

TEST_P(StressTest, OnAClockThatSomebodyAdvancesNoWishIsForgotten) {
  kopp::testing::FakeClock clock;
  DelayingQueue<Key> queue({.clock = clock, .order = GetParam().rules.OfQueue()});
  auto workers = Workers(3, queue);
  std::jthread time([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) clock.Advance(1s);
  });

  Threads(3, 4'000, [&](std::minstd_rand& random) {
    const int key = Pick(random, kKeys);
    books_.Want(key);
    queue.AddAfter(Key{key}, Pick(random, 5) * 1s, Pick(random, 3));
  }).clear();
  while (queue.TakeSnapshot(0).waiting_count > 0) std::this_thread::yield();
  time = {};
  clock.AwaitSleepers(1);  // it has put all into the queue
  queue.ShutDownWithDrain();
  workers.clear();

  books_.ExpectExclusive(queue);
  books_.ExpectNothingLost();
}

TEST_P(StressTest, ADrainReturnsWhenNothingIsQueuedAndNothingInHand) {
  for (int round = 0; round < 200; ++round) {
    DelayingQueue<Key> queue({.order = GetParam().rules.OfQueue()});
    auto workers = Workers(3, queue);
    for (int key = 0; key < kKeys; ++key) queue.Add(Key{key});

    Threads(2, 1, [&](auto&) {
      queue.ShutDownWithDrain();
      EXPECT_EQ(queue.Len(), 0);
      EXPECT_FALSE(books_.SomethingInHand());
    }).clear();
    workers.clear();

    books_.ExpectExclusive(queue);
  }
}

TEST_P(StressTest, WhoeverEndsTheQueueInTheMidstOfWorkEverybodyReturns) {
  for (int round = 0; round < 100; ++round) {
    DelayingQueue<Key> queue({.order = GetParam().rules.OfQueue()});
    std::stop_source some;
    auto workers = Workers(3, queue);
    std::jthread told([&] { books_.Work(queue, some.get_token()); });
    auto producers = Threads(3, 200, [&](std::minstd_rand& random) {
      const int key = Pick(random, kKeys);
      if (random() % 4 == 0) return queue.AddAfter(Key{key}, Pick(random, 50) * 1us);
      queue.Add(Key{key}, Pick(random, 3));
    });
    auto drainers = Threads(2, 1, [&](auto&) { queue.ShutDownWithDrain(); });
    some.request_stop();
    auto shutters = Threads(1, 1, [&](auto&) { queue.ShutDown(); });

    told.join();
    books_.Work(queue);  // what it gave back may be left: the other workers need not be there still
    drainers.clear();
    shutters.clear();
    producers.clear();
    workers.clear();

    books_.ExpectExclusive(queue);
  }
}

INSTANTIATE_TEST_SUITE_P(, StressTest, ::testing::ValuesIn(AllOrders()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace kopp::proof
