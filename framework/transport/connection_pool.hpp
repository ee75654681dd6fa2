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

/// A pool of idle connections for reuse. Acquire returns the connection that was released last, so
/// that surplus connections expire. The next Acquire or Release closes the expired ones. Owns its
/// connections. `T::opened` returns the TimePoint at which a connection was opened. Thread-safe.
template <class T>
class ConnectionPool {
 public:
  explicit ConnectionPool(Clock& clock = Clock::Real()) : clock_(clock) {}

  /// Returns an idle connection, or null if there is none.
  [[nodiscard]] std::unique_ptr<T> Acquire() {
    IdleList to_close;  // closed after the lock is released
    const std::lock_guard lock(mutex_);
    RemoveExpired(to_close);
    if (idle_.empty()) return nullptr;
    auto connection = std::move(idle_.back().connection);
    idle_.pop_back();
    return connection;
  }

  /// Adds an idle connection. Closes the oldest one if the pool is full.
  void Release(std::unique_ptr<T> connection) {
    IdleList to_close;
    const std::lock_guard lock(mutex_);
    RemoveExpired(to_close);
    if (idle_.size() == kMaxIdle) RemoveUntil(std::next(idle_.begin()), to_close);
    idle_.push_back({std::move(connection), clock_.Now()});
  }

  /// Closes the connections that have been idle since `time` or longer. Returns whether one remains
  /// that was opened before `opened`.
  bool CloseIdleSince(TimePoint time, TimePoint opened) {
    IdleList to_close;
    const std::lock_guard lock(mutex_);
    RemoveUntil(std::find_if(idle_.begin(), idle_.end(),
                             [time](const Idle& idle) { return idle.since > time; }),
                to_close);
    return std::any_of(idle_.begin(), idle_.end(),
                       [opened](const Idle& idle) { return idle.connection->opened() < opened; });
  }

 private:
  struct Idle {
    std::unique_ptr<T> connection;
    TimePoint since;
  };
  using IdleList = std::vector<Idle>;
  static constexpr std::size_t kMaxIdle = 16;
  static constexpr Duration kMaxIdleTime = std::chrono::seconds(30);

  // Moves the expired connections to `to_close`.
  void RemoveExpired(IdleList& to_close) {
    const TimePoint now = clock_.Now();
    RemoveUntil(std::find_if(idle_.begin(), idle_.end(),
                             [now](const Idle& idle) { return now - idle.since <= kMaxIdleTime; }),
                to_close);
  }

  void RemoveUntil(typename IdleList::iterator end, IdleList& to_close) {
    std::move(idle_.begin(), end, std::back_inserter(to_close));
    idle_.erase(idle_.begin(), end);
  }

  Clock& clock_;
  std::mutex mutex_;
  IdleList idle_;  // guarded by mutex_; ordered by `since`
};

}  // namespace kopp::detail
