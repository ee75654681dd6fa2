#include "signals.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace kopp::apiserver {

Signals::Signals() {
  sigemptyset(&ours_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2}) {
    sigaddset(&ours_, signal);
  }
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
