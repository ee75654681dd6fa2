#pragma once

#include <mutex>
#include <stop_token>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// The lives of a server that is restarted: each connection belongs to one of them. Safe to use
/// from any thread.
class Uptime {
 public:
  explicit Uptime(Clock& clock) : clock_(clock) {}

  /// Asks for an end when the life that is on now ends.
  [[nodiscard]] std::stop_token life() const { return state_.Lock()->life.get_token(); }
  /// False between two lives: no connection is taken.
  [[nodiscard]] bool is_up() const { return clock_.Now() >= up(); }
  /// When the life that is on now began, or the next begins.
  [[nodiscard]] TimePoint up() const { return state_.Lock()->up; }

  /// Ends this life; the next begins `closed` later, Duration::max() is never. Returns once all who
  /// ask for an end have acted on it, also on one that another thread has made.
  void Restart(Duration closed);

 private:
  struct State {
    std::stop_source life;
    TimePoint up{};
  };
  Clock& clock_;
  std::mutex restarting_;  // taken before the state's, never after
  mutable Guarded<State> state_;
};

}  // namespace kopp::apiserver
