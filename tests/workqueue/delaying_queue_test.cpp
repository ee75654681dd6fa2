#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

class DelayingQueueTest : public ::testing::Test {
 protected:
  /// Advances the clock, and returns when the queue has read the new time.
  void Advance(Duration step) {
    clock_.AwaitSleepers(1);
    clock_.Advance(step);
    clock_.AwaitSleepers(1);
  }

  kopp::testing::FakeClock clock_;
  DelayingQueue<std::string> queue_{{.clock = clock_}};
};

TEST_F(DelayingQueueTest, AddAfterAddsTheItemWhenItsDelayHasPassed) {
  queue_.AddAfter("a", 5s);

  Advance(4999ms);
  EXPECT_EQ(queue_.Len(), 0);
  Advance(1ms);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(DelayingQueueTest, AddAfterAddsTheItemOnce) {
  queue_.AddAfter("a", 50ms);
  Advance(60ms);
  queue_.Done(*queue_.Get());

  Advance(1h);

  EXPECT_EQ(queue_.Len(), 0);
}

TEST_F(DelayingQueueTest, AddAfterWithAZeroOrNegativeDelayAddsImmediately) {
  queue_.AddAfter("now", 0s);
  queue_.AddAfter("in the past", -5s);
  queue_.AddAfter("at the beginning of time", Duration::min());

  EXPECT_EQ(queue_.Len(), 3);
}

TEST_F(DelayingQueueTest, TheMaximumDelayNeverPasses) {
  queue_.AddAfter("never", Duration::max());
  Advance(24h * 365 * 100);

  EXPECT_EQ(queue_.Len(), 0);
}

TEST_F(DelayingQueueTest, TheEarlierOfTwoDelaysOfAnItemApplies) {
  queue_.AddAfter("a", 10s);
  queue_.AddAfter("a", 1s);
  queue_.AddAfter("a", 5s);

  Advance(1s);
  EXPECT_EQ(queue_.Get(), "a");
  queue_.Done("a");
  Advance(1h);

  EXPECT_EQ(queue_.Len(), 0) << "a later time of the item was kept";
}

TEST_F(DelayingQueueTest, AnItemCanBeDelayedAgainAfterItsDelayHasPassed) {
  queue_.AddAfter("a", 50ms);
  queue_.AddAfter("a", 70ms);
  Advance(60ms);
  queue_.Done(*queue_.Get());

  queue_.AddAfter("a", 50ms);
  queue_.AddAfter("a", 30ms);
  Advance(29ms);
  EXPECT_EQ(queue_.Len(), 0);
  Advance(1ms);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(DelayingQueueTest, EachItemIsAddedAtItsOwnTimeWhileOthersAreDelayed) {
  queue_.AddAfter("at 1 s", 1s);
  queue_.AddAfter("at 50 ms", 50ms);

  Advance(50ms);
  EXPECT_EQ(queue_.Get(), "at 50 ms");
  queue_.AddAfter("at 2050 ms", 2s);
  Advance(950ms);
  EXPECT_EQ(queue_.Get(), "at 1 s");
  Advance(1050ms);
  EXPECT_EQ(queue_.Get(), "at 2050 ms");
}

TEST_F(DelayingQueueTest, AddDoesNotCancelAPendingAddAfter) {
  queue_.AddAfter("a", 5s);
  queue_.Add("a");
  queue_.Done(*queue_.Get());

  Advance(5s);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(DelayingQueueTest, ItemsAreAddedByTimeThenByTheOrderOfTheirCalls) {
  queue_.AddAfter("late", 3s);
  queue_.AddAfter("second", 2s);
  queue_.AddAfter("third", 2s);
  queue_.AddAfter("first", 1s);

  Advance(3s);

  EXPECT_EQ(queue_.Get(), "first");
  EXPECT_EQ(queue_.Get(), "second");
  EXPECT_EQ(queue_.Get(), "third");
  EXPECT_EQ(queue_.Get(), "late");
}

TEST_F(DelayingQueueTest, AnItemWhoseDelayPassesWhileProcessingIsReturnedAgain) {
  queue_.Add("a");
  const auto processing = queue_.Get();
  queue_.AddAfter("a", 1s);
  Advance(1s);
  EXPECT_EQ(queue_.Len(), 0);

  queue_.Done(*processing);

  EXPECT_EQ(queue_.Len(), 1);
}

TEST_F(DelayingQueueTest, ShutDownDropsWaitingItems) {
  queue_.AddAfter("a", 1s);
  queue_.ShutDown();
  queue_.AddAfter("b", 1s);
  clock_.Advance(2s);

  EXPECT_EQ(queue_.Get(), std::nullopt);
  EXPECT_EQ(queue_.TakeSnapshot().waiting_count, 0);
}

TEST_F(DelayingQueueTest, DrainDoesNotWaitForDelayedItems) {
  queue_.AddAfter("a", 1000h);

  queue_.ShutDownWithDrain();

  EXPECT_EQ(queue_.Get(), std::nullopt);
  EXPECT_EQ(queue_.TakeSnapshot().waiting_count, 0);
}

TEST_F(DelayingQueueTest, EachOfManyDelayedItemsIsAddedOnceAtItsEarliestTime) {
  constexpr int kItems = 100'000;
  for (int round = 3; round > 0; --round) {
    for (int i = 0; i < kItems; ++i) queue_.AddAfter(std::to_string(i), 1s * (round + i % 7));
  }
  EXPECT_EQ(queue_.TakeSnapshot(1).waiting_count, kItems);

  for (int second = 1; second <= 7; ++second) {
    Advance(1s);
    std::size_t due = 0;
    for (int i = 0; i < kItems; ++i) due += i % 7 == second - 1 ? 1 : 0;
    EXPECT_EQ(queue_.Len(), due) << "after " << second << " s";
    while (queue_.Len() > 0) queue_.Done(*queue_.Get());
  }
  EXPECT_EQ(queue_.TakeSnapshot().waiting_count, 0);
}

TEST(DelayingQueueThreadTest, TheDestructorStopsTheThread) {
  kopp::testing::FakeClock clock;
  {
    DelayingQueue<int> queue{{.clock = clock}};
    queue.AddAfter(1, 1h);
    clock.AwaitSleepers(1);
  }
  clock.Advance(1h);  // would use the mutex of the thread if the thread were still running

  SUCCEED();
}

// A clock for one waiting thread. It reports whether the thread waits, and its deadline.
class ObservedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  [[nodiscard]] WallTime WallNow() const override { return {}; }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override {
    mutex_ = lock.mutex();
    cv_ = &cv;
    deadline_ = deadline;
    waiting_ = true;
    cv.wait(lock);
    waiting_ = false;
  }

  /// Blocks until the thread waits for `deadline`.
  void AwaitWaitUntil(TimePoint deadline) const {
    while (!waiting_ || deadline_.load() != deadline) std::this_thread::yield();
  }
  void AwaitNoWait() const {
    while (waiting_) std::this_thread::yield();
  }
  /// Sets the time and wakes the thread. Requires: the thread is waiting.
  void AdvanceTo(TimePoint now) {
    now_ = now;
    { const std::lock_guard guard{*mutex_}; }  // the thread is in its wait after this
    cv_.load()->notify_one();
  }

 private:
  std::atomic<TimePoint> now_{};
  std::atomic<TimePoint> deadline_{};
  std::atomic<bool> waiting_ = false;
  std::atomic<std::mutex*> mutex_ = nullptr;
  std::atomic<std::condition_variable*> cv_ = nullptr;
};

TEST(DelayingQueueThreadTest, WaitsUntilTheEarliestTimeAndAtLeast250MicrosecondsBetweenBatches) {
  ObservedClock clock;
  const TimePoint start = clock.Now();
  DelayingQueue<int> queue({.clock = clock});
  clock.AwaitWaitUntil(TimePoint::max());
  queue.AddAfter(1, 1ms);
  clock.AwaitWaitUntil(start + 1ms);
  queue.AddAfter(2, 1ms + 10us);
  queue.AddAfter(3, 5ms);

  clock.AdvanceTo(start + 1ms);
  clock.AwaitWaitUntil(start + 1ms + 250us);
  EXPECT_EQ(queue.Len(), 1);
  clock.AdvanceTo(start + 1ms + 250us);
  clock.AwaitWaitUntil(start + 5ms);
  EXPECT_EQ(queue.Len(), 2);
}

TEST(DelayingQueueThreadTest, ShutDownAndDrainStopTheThreadImmediately) {
  for (const bool drain : {false, true}) {
    ObservedClock clock;
    DelayingQueue<int> queue({.clock = clock});
    queue.AddAfter(1, 1h);
    clock.AwaitWaitUntil(clock.Now() + 1h);

    drain ? queue.ShutDownWithDrain() : queue.ShutDown();

    clock.AwaitNoWait();  // blocks forever if the thread does not wake up
  }
}

TEST(DelayingQueueThreadTest, AddAfterWorksWithTheRealClock) {
  DelayingQueue<int> queue;
  const TimePoint before = Clock::Real().Now();
  queue.AddAfter(1, 10ms);

  EXPECT_EQ(queue.Get(), 1);
  EXPECT_GE(Clock::Real().Now() - before, 10ms);
}

}  // namespace
}  // namespace kopp::workqueue
