#pragma once

#include <condition_variable>
#include <mutex>

#include <kopp/workqueue/clock.hpp>

namespace kopp::soak {

/// A clock that runs `factor` times as fast as the real one, so that an informer detects silent
/// watches and retries `factor` times as early. Thread-safe.
class FastClock final : public Clock {
 public:
  explicit FastClock(int factor) : factor_(factor) {}

  [[nodiscard]] TimePoint Now() const override {
    return start_ + (Real().Now() - start_) * factor_;
  }
  [[nodiscard]] WallTime WallNow() const override { return Real().WallNow(); }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                 TimePoint deadline) override {
    const bool is_endless = deadline == TimePoint::max();
    Real().WaitUntil(lock, cv, is_endless ? deadline : start_ + (deadline - start_) / factor_);
  }

 private:
  const int factor_;
  const TimePoint start_ = Real().Now();
};

}  // namespace kopp::soak
