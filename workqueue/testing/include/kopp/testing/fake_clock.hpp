#pragma once

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
  explicit FakeClock(WallTime wall = WallTime{std::chrono::seconds(1'000'000'000)});

  [[nodiscard]] TimePoint Now() const override;
  [[nodiscard]] WallTime WallNow() const override;
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override;

  /// Moves the time forward and wakes all sleepers.
  void Advance(Duration step);

  /// Blocks until at least `count` threads sleep on this clock, with or without a deadline.
  void AwaitSleepers(std::size_t count);

  /// Blocks until a thread sleeps whose deadline is `remaining` from now, within a millisecond. Use
  /// it instead of AwaitSleepers if other threads sleep on the same clock.
  void AwaitSleeperFor(Duration remaining);

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
