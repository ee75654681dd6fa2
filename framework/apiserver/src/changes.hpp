#pragma once

#include <condition_variable>
#include <cstdint>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Lets one thread wait until another says that something has changed. Safe to use from any.
class Changes {
 public:
  /// How many there were. Ask before looking at what may change.
  [[nodiscard]] std::uint64_t count() const { return *count_.Lock(); }

  void Tell() {
    ++*count_.Lock();
    changed_.notify_all();
  }

  /// Blocks until there were more than `seen`, or until `deadline`, of the real clock. Returns
  /// whether there were.
  bool Await(std::uint64_t seen, TimePoint deadline) const {
    Clock& clock = Clock::Real();
    auto count = count_.Lock();
    while (*count == seen && clock.Now() < deadline) {
      clock.WaitUntil(count.lock(), changed_, deadline);
    }
    return *count > seen;
  }

 private:
  mutable Guarded<std::uint64_t> count_{0U};
  mutable std::condition_variable changed_;
};

}  // namespace kopp::apiserver
