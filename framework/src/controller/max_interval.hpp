#pragma once

#include "controller/timer_queue.hpp"

#include <functional>
#include <unordered_map>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Enqueues each object that was reconciled again, when 90 to 100 % of an interval have passed
/// since its last reconcile. Thread-safe.
class MaxInterval {
 public:
  /// `exists` returns whether an object exists; it must be thread-safe. `queue`, `timers` and
  /// `clock` must outlive the object; the timers call it until they are destroyed.
  MaxInterval(Duration interval, informer::KeyQueue& queue, TimerQueue& timers, Clock& clock,
              std::function<bool(const ObjectKey&)> exists)
      : interval_(interval),
        queue_(queue),
        timers_(timers),
        clock_(clock),
        exists_(std::move(exists)) {}

  /// Starts the time of `key` again, or ends it if the object does not exist. Calls for one key
  /// must not be concurrent.
  void OnReconciled(const ObjectKey& key);

 private:
  const Duration interval_;
  informer::KeyQueue& queue_;
  TimerQueue& timers_;
  Clock& clock_;
  const std::function<bool(const ObjectKey&)> exists_;
  Guarded<std::unordered_map<ObjectKey, TimerQueue::Id>> timer_of_;  // some may have run
};

}  // namespace kopp
