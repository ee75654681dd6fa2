#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Connections that served a call and may serve another soon: the one put back last goes first, so
/// that what is too many grows old and is closed. Safe to use from any thread.
template <class T>
class Kept {
 public:
  /// Null when there is none.
  [[nodiscard]] std::unique_ptr<T> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty() || IsOld(idle_.back())) return nullptr;
    auto taken = std::move(idle_.back().held);
    idle_.pop_back();
    return taken;
  }

  void Put(std::unique_ptr<T> held) {
    std::vector<Idle> old;  // closed once the lock is let go
    const std::lock_guard lock(mutex_);
    auto young = std::find_if_not(idle_.begin(), idle_.end(), IsOld);
    if (young == idle_.begin() && idle_.size() == kMost) ++young;
    std::move(idle_.begin(), young, std::back_inserter(old));
    idle_.erase(idle_.begin(), young);
    idle_.push_back({std::move(held), Clock::Real().Now()});
  }

 private:
  struct Idle {
    std::unique_ptr<T> held;
    TimePoint since;
  };
  static constexpr std::size_t kMost = 16;

  static bool IsOld(const Idle& idle) {
    return Clock::Real().Now() - idle.since > std::chrono::seconds(30);
  }

  std::mutex mutex_;
  std::vector<Idle> idle_;  // guarded by mutex_; by `since`
};

}  // namespace kopp::detail
