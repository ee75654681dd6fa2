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

  /// Requests a stop when the current run ends.
  [[nodiscard]] std::stop_token run() const { return state_.Lock()->run.get_token(); }
  /// Whether connections are accepted: false between two runs.
  [[nodiscard]] bool is_up() const { return clock_.Now() >= up_since(); }
  /// When the current run began, or the next one will begin.
  [[nodiscard]] TimePoint up_since() const { return state_.Lock()->up_since; }

  /// Ends the current run; the next one begins after `downtime` (Duration::max(): never). Returns
  /// after all stop callbacks of the run have returned, including those that another thread's
  /// Restart calls.
  void Restart(Duration downtime);

 private:
  struct State {
    std::stop_source run;
    TimePoint up_since{};
  };
  Clock& clock_;
  std::mutex restarting_;  // lock order: before the state's lock
  mutable Guarded<State> state_;
};

}  // namespace kopp::apiserver
