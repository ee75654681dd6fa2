#include "controller/max_interval.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include <kopp/workqueue/random_source.hpp>

namespace kopp {
namespace {

constexpr double kRandomPart = 0.1;  // of the interval

Duration Shortened(Duration interval) {
  const double factor = 1 - kRandomPart * workqueue::SystemRandom();
  return std::chrono::duration_cast<Duration>(interval * factor);
}

}  // namespace

void MaxInterval::OnReconciled(const ObjectKey& key) {
  std::optional<TimerQueue::Id> next;
  if (exists_(key)) {
    next = timers_.Add(After(clock_.Now(), Shortened(interval_)), [this, key] {
      try {
        queue_.Add(key, informer::kLowPriority);
      } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; a change or resync enqueues it
      }
    });
  }
  std::optional<TimerQueue::Id> previous;
  {
    auto timer_of = timer_of_.Lock();
    const auto found = timer_of->find(key);
    if (found != timer_of->end()) previous = found->second;
    if (next) {
      timer_of->insert_or_assign(key, *next);
    } else if (previous) {
      timer_of->erase(found);
    }
  }
  if (previous) timers_.Cancel(*previous);
}

}  // namespace kopp
