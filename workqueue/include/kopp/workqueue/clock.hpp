#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace kopp {

using Duration = std::chrono::nanoseconds;

/// A time of the monotonic clock. Use it for delays and deadlines. Changes of the date do not
/// affect it.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A time of the calendar. Use it for timestamps that people and other machines read.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// Returns `from` + `delay`, or TimePoint::max() if the sum would overflow.
inline TimePoint SaturatingAdd(TimePoint from, Duration delay) {
  const bool fits = delay <= Duration::zero() || from <= TimePoint::max() - delay;
  return fits ? from + delay : TimePoint::max();
}

/// The interface through which kopp reads the time and waits for it; nothing in kopp uses another
/// clock.
///
/// The clock implements the timed wait, so that a simulated clock can wake a sleeper
/// (`kopp::testing::FakeClock`). Implementations must be thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  [[nodiscard]] virtual TimePoint Now() const = 0;
  [[nodiscard]] virtual WallTime WallNow() const = 0;

  /// Releases `lock` and blocks until `cv` is notified or `deadline` is reached, then acquires the
  /// lock again. Spurious wake-ups are possible, so the caller must check its condition in a loop.
  /// With TimePoint::max() it waits only for the notification.
  /// Requires: `lock` is held; its mutex and `cv` outlive the call.
  virtual void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                         TimePoint deadline) = 0;

  /// The clocks of the operating system. Never destroyed.
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

/// Blocks until `clock` reaches `deadline` or until `stop` is requested. Returns false if stop was
/// requested.
inline bool SleepUntil(Clock& clock, TimePoint deadline, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable cv;
  const std::stop_callback wake(stop, [&] {
    const std::lock_guard guard{mutex};
    cv.notify_all();
  });
  std::unique_lock lock{mutex};
  while (!stop.stop_requested() && clock.Now() < deadline) clock.WaitUntil(lock, cv, deadline);
  return !stop.stop_requested();
}

}  // namespace kopp
