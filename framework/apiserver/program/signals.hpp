#pragma once

#include <csignal>
#include <optional>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// The signals that this program acts on, as events that one thread waits for. Blocked from the
/// constructor on, for good: make it in `main`, before any thread. Those from a terminal that the
/// program was started to ignore, as nohup and a shell's & do, it goes on ignoring.
///
/// SIGPIPE is among them: a write to what is gone fails, and who waits is told.
class Signals {
 public:
  Signals();

  /// The next one: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGUSR1 or SIGUSR2; nothing
  /// when `limit` passes.
  [[nodiscard]] std::optional<int> Wait(Duration limit) const;

 private:
  sigset_t ours_;
};

}  // namespace kopp::apiserver
