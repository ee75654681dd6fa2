#include "controller/timer_queue.hpp"

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

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
