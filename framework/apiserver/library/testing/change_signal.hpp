#pragma once

#include <condition_variable>
#include <cstdint>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Wakes threads that wait for a change: a counter of changes with a condition variable.
/// Thread-safe.
class ChangeSignal {
 public:
  /// Returns the number of notifications so far. To miss no change, read it before you check a
  /// condition, and pass it to Wait.
  [[nodiscard]] std::uint64_t count() const { return *count_.Lock(); }

  void Notify() {
    ++*count_.Lock();
    changed_.notify_all();
  }

  /// Blocks until count() exceeds `last_count`, or until `deadline` of the real clock. Returns
  /// false on timeout.
  bool Wait(std::uint64_t last_count, TimePoint deadline) const {
    Clock& clock = Clock::Real();
    auto count = count_.Lock();
    while (*count == last_count && clock.Now() < deadline) {
      clock.WaitUntil(count.lock(), changed_, deadline);
    }
    return *count > last_count;
  }

 private:
  mutable detail::Guarded<std::uint64_t> count_{0U};
  mutable std::condition_variable changed_;
};

}  // namespace kopp::apiserver
