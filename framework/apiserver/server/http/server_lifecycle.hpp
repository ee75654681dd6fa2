#pragma once

#include <mutex>
#include <stop_token>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Simulates restarts of a server. A run is the time between two restarts; each connection belongs
/// to one run. Thread-safe. The clock must outlive it.
class ServerLifecycle {
 public:
  explicit ServerLifecycle(Clock& clock) : clock_(clock) {}

  /// Returns a token that requests a stop when the current run ends.
  [[nodiscard]] std::stop_token run() const { return state_.Lock()->run.get_token(); }
  /// Returns whether connections are accepted. They are not between two runs.
  [[nodiscard]] bool is_up() const { return clock_.Now() >= up_since(); }
  /// Returns the time at which the current run began, or the next one will begin.
  [[nodiscard]] TimePoint up_since() const { return state_.Lock()->up_since; }

  /// Ends the current run. The next one begins after `downtime`, or never if that is
  /// Duration::max(). Returns after all stop callbacks of the run have returned, including those
  /// that another thread's Restart calls.
  void Restart(Duration downtime);

 private:
  struct State {
    std::stop_source run;
    TimePoint up_since{};
  };
  Clock& clock_;
  std::mutex restarting_;  // lock order: before the state's lock
  mutable detail::Guarded<State> state_;
};

}  // namespace kopp::apiserver
