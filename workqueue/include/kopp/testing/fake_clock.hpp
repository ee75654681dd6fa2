#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// Time that moves only when told to. Safe to use from any thread.
///
/// Advance wakes whoever sleeps on this clock and forgets that they slept, so that AwaitSleepers
/// afterwards proves that they have looked at the new time and gone back to sleep:
///
///     queue.AddAfter("a", 5s);
///     clock.AwaitSleepers(1);
///     clock.Advance(4s);
///     clock.AwaitSleepers(1);
///     EXPECT_EQ(queue.Len(), 0);  // and not merely: not yet
class FakeClock final : public Clock {
 public:
  /// `wall` is the calendar time at the start; both clocks advance together.
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
    // Advance may be about to use our mutex and cv. It needs the caller's lock for that, so we wait
    // for it without.
    lock.unlock();
    {
      std::unique_lock guard{mutex_};
      left_alone_.wait(guard, [&] { return !self.being_woken; });
      std::erase(sleepers_, &self);
    }
    lock.lock();
  }

  /// Moves time forward and wakes all sleepers; those with nothing to do go back to sleep.
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
      }  // once we had its lock, it is in the wait
      sleeper->cv->notify_all();
    }
    const std::lock_guard guard{mutex_};
    for (Sleeper* sleeper : woken) sleeper->being_woken = false;
    left_alone_.notify_all();
  }

  /// Blocks until at least `count` threads sleep on this clock, those without a deadline included.
  void AwaitSleepers(std::size_t count) {
    std::unique_lock guard{mutex_};
    arrived_.wait(guard, [&] { return sleepers_.size() >= count; });
  }

  /// Blocks until a thread sleeps that wants to be woken `left` from now, give or take a
  /// millisecond: where others sleep too, it proves that what is to happen then has been asked for.
  void AwaitSleeperFor(Duration left) {
    constexpr Duration kAbout = std::chrono::milliseconds(1);
    std::unique_lock guard{mutex_};
    arrived_.wait(guard, [&] {
      const TimePoint then = After(now_, left);
      return std::any_of(sleepers_.begin(), sleepers_.end(), [&](const Sleeper* sleeper) {
        return sleeper->deadline >= then - kAbout && sleeper->deadline - kAbout <= then;
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

  mutable std::mutex mutex_;  // taken after a sleeper's own, never before
  std::condition_variable arrived_;
  std::condition_variable left_alone_;
  TimePoint now_{};
  WallTime wall_;
  std::vector<Sleeper*> sleepers_;
};

}  // namespace kopp::testing
