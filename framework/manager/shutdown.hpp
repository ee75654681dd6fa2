#pragma once

#include <algorithm>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The time limit of a shutdown. Some time before it ends, API calls are cancelled; at its end, the
/// process exits, whatever it is doing. The destructor ends the limit.
class Shutdown {
 public:
  /// The shutdown starts now and takes at most `timeout`; a negative one is unlimited. Calls are
  /// cancelled a quarter of it before its end, but at most 5 seconds. If it is shorter than a
  /// second, the process exits a second after the start. `cancel_calls` is called at most once.
  /// `clock` must outlive the object.
  Shutdown(Duration timeout, Clock& clock, Logger log, std::function<void()> cancel_calls);
  Shutdown(const Shutdown&) = delete;
  Shutdown& operator=(const Shutdown&) = delete;

  /// Blocks until `running`, called with a deadline, returns nothing. It blocks until the deadline
  /// or until everything has ended, and returns the names of what still runs.
  void Await(const std::function<std::vector<std::string>(TimePoint deadline)>& running);
  /// Sets what the log names if the time limit is reached while `wait` blocks, and calls it.
  void Await(std::string name, const std::function<void()>& wait);

  /// Returns the time until the process exits; not negative. Steps that may give up, and that the
  /// rest of the shutdown waits for, take only a part of it.
  [[nodiscard]] Duration TimeLeft() const {
    if (exit_at_ == TimePoint::max()) return Duration::max();
    return std::max(exit_at_ - clock_.Now(), Duration::zero());
  }

 private:
  void ExitAtLimit(const std::stop_token& stop);

  Clock& clock_;
  const Logger log_;
  std::function<void()> cancel_calls_;
  TimePoint cancel_at_ = TimePoint::max();
  TimePoint exit_at_ = TimePoint::max();
  detail::Guarded<std::string> running_;  // what is waited for
  std::jthread watchdog_;                 // last: it uses all members above
};

}  // namespace kopp
