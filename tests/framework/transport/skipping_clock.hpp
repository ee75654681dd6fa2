#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// A clock for tests with one thread. A wait ends immediately, and the time is its deadline then.
/// Records the length of each wait.
class SkippingClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  [[nodiscard]] WallTime WallNow() const override { return WallTime{now_.time_since_epoch()}; }
  void WaitUntil(std::unique_lock<std::mutex>&, std::condition_variable&,
                 TimePoint deadline) override {
    waits_.push_back(deadline - now_);
    now_ = deadline;
  }

  void Advance(Duration step) { now_ += step; }
  [[nodiscard]] const std::vector<Duration>& waits() const { return waits_; }

 private:
  TimePoint now_{};
  std::vector<Duration> waits_;
};

}  // namespace kopp::testing
