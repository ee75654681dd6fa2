#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Calls functions at given times, on one thread. Thread-safe.
class TimerQueue {
 public:
  /// Identifies a timer: its time and a unique number.
  using Id = std::pair<TimePoint, std::uint64_t>;

  /// `clock` must outlive the queue. Throws std::system_error if the thread cannot be started.
  explicit TimerQueue(Clock& clock);
  /// Drops the timers. Blocks while a function runs.
  ~TimerQueue();
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  /// Calls `run` at the time `at`, or soon if that has passed. `run` must not block or throw.
  Id Add(TimePoint at, std::function<void()> run);
  /// Removes a timer. Returns false if its function has been called, or is being called.
  bool Cancel(const Id& id);

 private:
  struct State {
    std::map<Id, std::function<void()>> timers;  // the earliest first
    std::uint64_t last_number = 0;
    TimePoint sleeps_until = TimePoint::min();  // of the thread; min: it does not sleep
    bool stopped = false;
  };

  void Run();

  Clock& clock_;
  detail::Guarded<State> state_;
  std::condition_variable
      changed_;          // signals: a timer is due before the thread wakes, or the destructor runs
  std::jthread thread_;  // last: it uses all members above
};

}  // namespace kopp
