#include "max_interval.hpp"

#include <chrono>
#include <optional>

#include <kopp/workqueue/detail/duration_math.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {
namespace {

constexpr double kRandomPart = 0.1;  // of the interval

Duration Shortened(Duration interval) {
  return workqueue::detail::Scaled(interval, 1 - kRandomPart * workqueue::SystemRandom());
}

}  // namespace

void MaxInterval::OnStarted(const ObjectKey& key) {
  std::optional<TimerQueue::Id> timer;
  {
    auto timer_of = timer_of_.Lock();
    const auto found = timer_of->find(key);
    if (found == timer_of->end()) return;
    timer = found->second;
    timer_of->erase(found);
  }
  timers_.Cancel(*timer);
}

void MaxInterval::OnReconciled(const ObjectKey& key) {
  if (!functions_.exists(key)) return;
  const auto timer = timers_.Add(SaturatingAdd(clock_.Now(), Shortened(interval_)), [this, key] {
    try {
      functions_.enqueue(key);
    } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; a change or resync enqueues it
    }
  });
  timer_of_.Lock()->insert_or_assign(key, timer);
}

}  // namespace kopp
