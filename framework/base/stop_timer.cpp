#include "base/stop_timer.hpp"

#include <utility>

namespace kopp::detail {

std::stop_token StopTimer::Start(TimePoint deadline) {
  std::stop_source source;
  std::stop_token token = source.get_token();
  *period_.Lock() = {std::move(source), deadline};
  if (thread_.joinable()) {
    changed_.notify_all();
    return token;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  } catch (...) {
    Cancel();
    throw;
  }
  return token;
}

// Need not wake the thread: it finds the new deadline when it wakes up at the old one.
bool StopTimer::Extend(TimePoint deadline) {
  auto period = period_.Lock();
  if (!IsRunning(*period)) return false;
  period->deadline = deadline;
  return true;
}

void StopTimer::End() {
  std::stop_source ended{std::nostopstate};
  {
    auto period = period_.Lock();
    ended = std::exchange(*period, {}).source;
  }
  ended.request_stop();
}

void StopTimer::Cancel() { *period_.Lock() = {}; }

std::optional<std::stop_token> StopTimer::Current() const {
  auto period = period_.Lock();
  return IsRunning(*period) ? std::optional(period->source.get_token()) : std::nullopt;
}

void StopTimer::Run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    { auto period = period_.Lock(); }
    changed_.notify_all();
  });
  auto period = period_.Lock();
  while (!stop.stop_requested()) {
    if (clock_.Now() < period->deadline) {
      clock_.WaitUntil(period.lock(), changed_, period->deadline);
      continue;
    }
    std::stop_source expired = std::exchange(*period, {}).source;
    period.lock().unlock();  // the callbacks of the token run without the lock
    expired.request_stop();
    period.lock().lock();
  }
}

}  // namespace kopp::detail
