#include "signals.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace kopp::apiserver {
namespace {

bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  sigemptyset(&handled_);
  for (const int signal : {SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2}) {
    sigaddset(&handled_, signal);
  }
  // A blocked signal would be delivered even if it is ignored.
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT}) {
    if (!IsIgnored(signal)) sigaddset(&handled_, signal);
  }
  ::signal(SIGCHLD, SIG_DFL);  // exit codes of children would be lost if it were ignored
  ::pthread_sigmask(SIG_BLOCK, &handled_, nullptr);
}

std::optional<int> Signals::Wait(Duration timeout) const {
  timeout = std::max(timeout, Duration::zero());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  const timespec limit{static_cast<time_t>(seconds.count()),
                       static_cast<long>((timeout - seconds).count())};
  const int signal = ::sigtimedwait(&handled_, nullptr, &limit);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

}  // namespace kopp::apiserver
