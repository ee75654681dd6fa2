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
  sigemptyset(&ours_);
  for (const int signal : {SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2}) {
    sigaddset(&ours_, signal);
  }
  // Blocked they would come though they are ignored.
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT}) {
    if (!IsIgnored(signal)) sigaddset(&ours_, signal);
  }
  ::signal(SIGCHLD, SIG_DFL);  // where it was ignored, exit codes would be lost
  ::pthread_sigmask(SIG_BLOCK, &ours_, nullptr);
}

std::optional<int> Signals::Wait(Duration limit) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::max(limit, Duration::zero()));
  const timespec timeout{static_cast<time_t>(seconds.count()),
                         static_cast<long>((std::max(limit, Duration::zero()) - seconds).count())};
  const int signal = ::sigtimedwait(&ours_, nullptr, &timeout);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

}  // namespace kopp::apiserver
