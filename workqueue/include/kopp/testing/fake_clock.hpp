#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// A clock whose time changes only in Advance. Thread-safe.
///
/// Advance wakes all threads that sleep on this clock and removes them from its list of sleepers.
/// AwaitSleepers afterwards blocks until they have read the new time and sleep again:
///
///     queue.AddAfter("a", 5s);
///     clock.AwaitSleepers(1);
///     clock.Advance(4s);
///     clock.AwaitSleepers(1);
///     EXPECT_EQ(queue.Len(), 0);  // the queue has seen the new time
class FakeClock final : public Clock {
 public:
  /// `wall` is the calendar time at the start. Advance moves both clocks.
  explicit FakeClock(WallTime wall = WallTime{std::chrono::seconds(1'000'000'000)}) : wall_(wall) {}

  [[nodiscard]] TimePoint Now() const override {
    const std::lock_guard guard{mutex_};
    return now_;
  }
  [[nodiscard]] WallTime WallNow() const override {
    const std::lock_guard guard{mutex_};
    return wall_;
  }

  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override {
    Sleeper self{lock.mutex(), &cv, deadline};
    {
      const std::lock_guard guard{mutex_};
      if (deadline <= now_) return;
      sleepers_.push_back(&self);
      arrived_.notify_all();
    }
    cv.wait(lock);
    // Advance may be about to use the mutex and the cv of this sleeper: wait until it is done.
    // Release the lock meanwhile, because Advance acquires it.
    lock.unlock();
    {
      std::unique_lock guard{mutex_};
      wake_finished_.wait(guard, [&] { return !self.being_woken; });
      std::erase(sleepers_, &self);
    }
    lock.lock();
  }

  /// Moves the time forward and wakes all sleepers.
  void Advance(Duration step) {
    std::vector<Sleeper*> woken;
    {
      const std::lock_guard guard{mutex_};
      now_ += step;
      wall_ += step;
      woken.swap(sleepers_);
      for (Sleeper* sleeper : woken) sleeper->being_woken = true;
    }
    for (const Sleeper* sleeper : woken) {
      {
        const std::lock_guard asleep{*sleeper->mutex};
      }  // the sleeper has released its mutex, so it is waiting
      sleeper->cv->notify_all();
    }
    const std::lock_guard guard{mutex_};
    for (Sleeper* sleeper : woken) sleeper->being_woken = false;
    wake_finished_.notify_all();
  }

  /// Blocks until at least `count` threads sleep on this clock, with or without a deadline.
  void AwaitSleepers(std::size_t count) {
    std::unique_lock guard{mutex_};
    arrived_.wait(guard, [&] { return sleepers_.size() >= count; });
  }

  /// Blocks until a thread sleeps whose deadline is `remaining` from now, within a millisecond. Use
  /// it instead of AwaitSleepers if other threads sleep on the same clock.
  void AwaitSleeperFor(Duration remaining) {
    constexpr Duration kTolerance = std::chrono::milliseconds(1);
    std::unique_lock guard{mutex_};
    arrived_.wait(guard, [&] {
      const TimePoint deadline = SaturatingAdd(now_, remaining);
      return std::any_of(sleepers_.begin(), sleepers_.end(), [&](const Sleeper* sleeper) {
        return sleeper->deadline >= deadline - kTolerance &&
               sleeper->deadline - kTolerance <= deadline;
      });
    });
  }

 private:
  struct Sleeper {
    std::mutex* mutex;
    std::condition_variable* cv;
    TimePoint deadline;
    bool being_woken = false;
  };

  mutable std::mutex mutex_;  // acquired after the mutex of a sleeper, never before it
  std::condition_variable arrived_;
  std::condition_variable wake_finished_;
  TimePoint now_{};
  WallTime wall_;
  std::vector<Sleeper*> sleepers_;
};

}  // namespace kopp::testing
