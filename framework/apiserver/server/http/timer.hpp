#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// One timer per id, by a Clock that may be a FakeClock. Thread-safe.
class Timer {
 public:
  using Id = std::uint64_t;

  /// `on_expiry` is called in the timer's own thread and must be short. The clock must outlive the
  /// timer.
  Timer(Clock& clock, std::function<void(Id)> on_expiry);
  /// Blocks until a running callback has returned.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Replaces the timer of `id`: it expires once, at `when`. TimePoint::max() cancels it.
  void Set(Id id, TimePoint when);

 private:
  struct State {
    std::map<Id, TimePoint> by_id;
    std::set<std::pair<TimePoint, Id>> by_time;  // the same entries
    bool stopping = false;
  };
  void Run();

  Clock& clock_;
  const std::function<void(Id)> on_expiry_;
  detail::Guarded<State> state_;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kopp::apiserver
