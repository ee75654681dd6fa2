#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Connections that served a call and may serve another soon: the one put back last goes first, so
/// that what is too many grows old and is closed, by the next that comes or goes. Safe to use from
/// any thread.
template <class T>
class Kept {
 public:
  explicit Kept(Clock& clock = Clock::Real()) : clock_(clock) {}

  /// Null when there is none.
  [[nodiscard]] std::unique_ptr<T> Take() {
    Idles old;  // closed once the lock is let go
    const std::lock_guard lock(mutex_);
    DropOld(old);
    if (idle_.empty()) return nullptr;
    auto taken = std::move(idle_.back().held);
    idle_.pop_back();
    return taken;
  }

  void Put(std::unique_ptr<T> held) {
    Idles old;
    const std::lock_guard lock(mutex_);
    DropOld(old);
    if (idle_.size() == kMost) Drop(std::next(idle_.begin()), old);
    idle_.push_back({std::move(held), clock_.Now()});
  }

 private:
  struct Idle {
    std::unique_ptr<T> held;
    TimePoint since;
  };
  using Idles = std::vector<Idle>;
  static constexpr std::size_t kMost = 16;
  static constexpr Duration kLongest = std::chrono::seconds(30);

  void DropOld(Idles& old) {
    const TimePoint now = clock_.Now();
    Drop(std::find_if(idle_.begin(), idle_.end(),
                      [now](const Idle& idle) { return now - idle.since <= kLongest; }),
         old);
  }

  void Drop(typename Idles::iterator end, Idles& old) {
    std::move(idle_.begin(), end, std::back_inserter(old));
    idle_.erase(idle_.begin(), end);
  }

  Clock& clock_;
  std::mutex mutex_;
  Idles idle_;  // guarded by mutex_; by `since`
};

}  // namespace kopp::detail
