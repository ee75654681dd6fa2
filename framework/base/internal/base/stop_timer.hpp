#pragma once

#include <condition_variable>
#include <optional>
#include <stop_token>
#include <thread>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// Requests a stop at a deadline that can be moved. One period runs at a time: from Start until its
/// deadline, End or Cancel. Owns a thread, which the first Start starts. Thread-safe, except that
/// one thread at a time calls Start.
class StopTimer {
 public:
  /// `clock` must outlive the timer.
  explicit StopTimer(Clock& clock) : clock_(clock) {}

  /// Starts a period and cancels the previous one. Returns a token that is stopped at `deadline` or
  /// by End. Throws std::system_error if the thread cannot be started.
  std::stop_token Start(TimePoint deadline);
  /// Moves the deadline. Returns false, and changes nothing, if the period has ended.
  bool Extend(TimePoint deadline);
  /// Ends the period and requests the stop now. Does nothing if there is no period.
  void End();
  /// Ends the period without a stop.
  void Cancel();

  /// Returns the token of the period, or nullopt if it has ended: also if its deadline has passed
  /// and the thread of the timer has not run since.
  [[nodiscard]] std::optional<std::stop_token> Current() const;

 private:
  struct Period {
    std::stop_source source{std::nostopstate};  // without a state: there is no period
    TimePoint deadline = TimePoint::max();
  };

  [[nodiscard]] bool IsRunning(const Period& period) const {
    return period.source.stop_possible() && clock_.Now() < period.deadline;
  }
  void Run(const std::stop_token& stop);

  Clock& clock_;
  mutable detail::Guarded<Period> period_;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses all members above
};

/// Cancels the period of a StopTimer when it is destroyed.
class CancelWhenDone {
 public:
  explicit CancelWhenDone(StopTimer& timer) : timer_(timer) {}
  ~CancelWhenDone() { timer_.Cancel(); }
  CancelWhenDone(const CancelWhenDone&) = delete;
  CancelWhenDone& operator=(const CancelWhenDone&) = delete;

 private:
  StopTimer& timer_;
};

}  // namespace kopp::detail
