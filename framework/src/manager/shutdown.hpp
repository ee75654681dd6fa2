#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The time limit of a shutdown. Some time before it ends, API calls are cancelled; at its end, the
/// process exits.
class Shutdown {
 public:
  /// The shutdown starts now and takes at most `timeout`; a negative one is unlimited. If it is
  /// shorter than a second, calls are cancelled at its end, and the process exits a second after
  /// the start. `cancel_calls` is called at most once. `clock` must outlive the object.
  Shutdown(Duration timeout, Clock& clock, Logger log, std::function<void()> cancel_calls)
      : clock_(clock), log_(std::move(log)), cancel_calls_(std::move(cancel_calls)) {
    using namespace std::chrono_literals;
    if (timeout < Duration::zero()) return;
    const TimePoint start = clock.Now();
    cancel_at_ = After(start, timeout - std::min<Duration>(timeout / 4, 5s));
    exit_at_ = After(start, std::max<Duration>(timeout, 1s));
  }

  /// Blocks until `running`, called with a deadline, returns nothing. It blocks until the deadline
  /// or until everything has ended, and returns the names of what still runs. Exits the process
  /// with code 1 if something runs too long.
  void Await(const std::function<std::vector<std::string>(TimePoint deadline)>& running) {
    auto names = running(cancel_at_);
    if (names.empty()) return;
    if (cancel_calls_) {
      log_.Error("The shutdown takes too long, cancelling API calls", {{"running", Join(names)}});
      std::exchange(cancel_calls_, nullptr)();
    }
    names = running(exit_at_);
    if (names.empty()) return;
    log_.Error("The shutdown took too long, exiting with code 1", {{"running", Join(names)}});
    std::_Exit(1);
  }

  /// Returns the time at which the process exits.
  [[nodiscard]] TimePoint deadline() const { return exit_at_; }

 private:
  static std::string Join(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  Clock& clock_;
  Logger log_;
  std::function<void()> cancel_calls_;
  TimePoint cancel_at_ = TimePoint::max();
  TimePoint exit_at_ = TimePoint::max();
};

}  // namespace kopp
