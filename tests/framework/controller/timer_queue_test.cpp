#include "controller/timer_queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

/// Counts how often threads begin to sleep.
class CountingClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return clock_.Now(); }
  [[nodiscard]] WallTime WallNow() const override { return clock_.WallNow(); }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override {
    ++sleeps_;
    clock_.WaitUntil(lock, cv, deadline);
  }
  testing::FakeClock& fake() { return clock_; }
  [[nodiscard]] int sleeps() const { return sleeps_; }

 private:
  testing::FakeClock clock_;
  std::atomic<int> sleeps_ = 0;
};

class TimerQueueTest : public ::testing::Test {
 protected:
  /// Adds a timer that appends `name` to called().
  TimerQueue::Id Add(Duration delay, const std::string& name) {
    return timers_.Add(clock_.Now() + delay, [this, name] {
      const std::lock_guard guard{mutex_};
      called_ += name;
    });
  }
  std::string called() {
    const std::lock_guard guard{mutex_};
    return called_;
  }

  std::mutex mutex_;
  std::string called_;
  testing::FakeClock clock_;
  TimerQueue timers_{clock_};
};

TEST_F(TimerQueueTest, FunctionsAreCalledAtTheirTimeEarliestFirst) {
  Add(3s, "c");
  Add(1s, "a");
  Add(2s, "b");
  clock_.AwaitSleeperFor(1s);
  EXPECT_EQ(called(), "");

  clock_.Advance(2s);
  clock_.AwaitSleeperFor(1s);
  EXPECT_EQ(called(), "ab");

  clock_.Advance(1s);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(called(), "abc");
}

TEST_F(TimerQueueTest, ATimerWithATimeInThePastIsCalledSoon) {
  std::latch called{1};
  timers_.Add(clock_.Now(), [&] { called.count_down(); });
  called.wait();
}

TEST_F(TimerQueueTest, ACancelledTimerIsNotCalled) {
  const auto id = Add(1s, "a");
  Add(2s, "b");

  EXPECT_TRUE(timers_.Cancel(id));
  EXPECT_FALSE(timers_.Cancel(id));
  clock_.AwaitSleepers(1);
  clock_.Advance(3s);
  clock_.AwaitSleepers(1);

  EXPECT_EQ(called(), "b");
}

TEST_F(TimerQueueTest, ATimerAfterTheTimeOfACancelledOneDoesNotWakeTheThread) {
  CountingClock clock;
  TimerQueue timers{clock};
  const auto first = timers.Add(clock.Now() + 1s, [] {});
  clock.fake().AwaitSleeperFor(1s);
  timers.Cancel(first);

  const int sleeps = clock.sleeps();
  for (int i = 0; i < 1'000; ++i) timers.Cancel(timers.Add(clock.Now() + 2s, [] {}));
  EXPECT_EQ(clock.sleeps(), sleeps);

  std::latch called{1};
  timers.Add(clock.Now() + 2s, [&] { called.count_down(); });
  clock.fake().Advance(1s);
  clock.fake().AwaitSleeperFor(1s);
  clock.fake().Advance(1s);
  called.wait();
}

TEST_F(TimerQueueTest, CancelReturnsFalseWhileAndAfterTheFunctionIsCalled) {
  std::latch running{1};
  std::latch finish{1};
  const auto id = timers_.Add(clock_.Now(), [&] {
    running.count_down();
    finish.wait();
  });
  running.wait();
  EXPECT_FALSE(timers_.Cancel(id));

  finish.count_down();
  clock_.AwaitSleepers(1);
  EXPECT_FALSE(timers_.Cancel(id));
}

TEST_F(TimerQueueTest, AFunctionMayAddAndCancelTimers) {
  std::latch called{1};
  timers_.Add(clock_.Now(), [&] {
    timers_.Cancel(Add(1h, "never"));
    timers_.Add(clock_.Now(), [&] { called.count_down(); });
  });
  called.wait();
}

}  // namespace
}  // namespace kopp
