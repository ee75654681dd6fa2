#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <time.h>

#include <kopp/leader_election/boot_time_clock.hpp>

namespace kopp {
namespace {

// The clock of condition variables stands still during a suspend, so a longer wait is divided.
constexpr Duration kLongestWait = std::chrono::seconds(1);

class BootTime final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return TimePoint(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
  [[nodiscard]] WallTime WallNow() const override { return Clock::Real().WallNow(); }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override {
    if (deadline == TimePoint::max()) {
      cv.wait(lock);
    } else {
      cv.wait_for(lock, std::min(deadline - Now(), kLongestWait));
    }
  }
};

}  // namespace

Clock& BootTimeClock() {
  static BootTime clock;
  return clock;
}

Clock& CountingSuspends(Clock& clock) { return &clock == &Clock::Real() ? BootTimeClock() : clock; }

}  // namespace kopp
