#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kopp {

using Duration = std::chrono::nanoseconds;

/// A moment of the monotonic clock: for delays and deadlines, untouched by changes of the date.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A moment of the calendar: for timestamps that people and other machines read.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// `from` + `delay`, or TimePoint::max() where the sum would pass it: "never" stays never.
inline TimePoint After(TimePoint from, Duration delay) {
  const bool fits = delay <= Duration::zero() || from <= TimePoint::max() - delay;
  return fits ? from + delay : TimePoint::max();
}

/// The one seam to time: kopp reads no clock and waits for no moment but through this.
///
/// The clock owns the timed wait, so that a simulated clock can wake a sleeper
/// (`kopp::testing::FakeClock`). Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual TimePoint Now() const = 0;
  [[nodiscard]] virtual WallTime WallNow() const = 0;

  /// Releases `lock` and blocks until `cv` is notified or `deadline` is reached, then takes the
  /// lock again. May return early for no reason: the caller looks again at what it waits for.
  /// TimePoint::max() waits for the notification alone.
  /// Requires: `lock` is held, and its mutex and `cv` live until the call returns.
  virtual void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                         TimePoint deadline) = 0;

  /// The machine's clocks. Lives as long as the program.
  static Clock& Real();

 protected:
  Clock() = default;
  Clock(const Clock&) = default;
  Clock& operator=(const Clock&) = default;
};

inline Clock& Clock::Real() {
  class RealClock final : public Clock {
   public:
    [[nodiscard]] TimePoint Now() const override { return std::chrono::steady_clock::now(); }
    [[nodiscard]] WallTime WallNow() const override { return std::chrono::system_clock::now(); }
    void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                   TimePoint deadline) override {
      if (deadline == TimePoint::max()) {
        cv.wait(lock);
      } else {
        cv.wait_until(lock, deadline);
      }
    }
  };
  static RealClock clock;
  return clock;
}

}  // namespace kopp
