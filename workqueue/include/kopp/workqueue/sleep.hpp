#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Blocks until `clock` reaches `deadline`, or `stop` asks. Returns whether nobody asked.
inline bool SleepUntil(Clock& clock, TimePoint deadline, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable cv;
  const std::stop_callback wake(stop, [&] {
    const std::lock_guard guard{mutex};
    cv.notify_all();
  });
  std::unique_lock lock{mutex};
  while (!stop.stop_requested() && clock.Now() < deadline) clock.WaitUntil(lock, cv, deadline);
  return !stop.stop_requested();
}

}  // namespace kopp
