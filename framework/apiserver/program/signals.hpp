#pragma once

#include <optional>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// Delivers the signals of this program to one waiting thread. The constructor blocks them in the
/// process, and they stay blocked: create it in `main`, before the first thread. SIGINT, SIGHUP
/// and SIGQUIT stay ignored if they were ignored at the start, as by nohup and the shell's `&`.
///
/// SIGPIPE is one of them: a write to a closed pipe fails and does not kill the process.
class Signals {
 public:
  Signals();

  /// Blocks until a signal arrives, and returns it: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
  /// SIGCHLD, SIGUSR1 or SIGUSR2. Returns an empty optional after `timeout`.
  [[nodiscard]] std::optional<int> Wait(Duration timeout) const;

 private:
  sigset_t handled_;
};

}  // namespace kopp::apiserver
