#pragma once

#include "controller/timer_queue.hpp"

#include <functional>
#include <unordered_map>
#include <utility>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Enqueues each object that was reconciled again, when 90 to 100 % of an interval have passed
/// since its last reconcile. Thread-safe.
class MaxInterval {
 public:
  struct Functions {
    std::function<void(const ObjectKey&)> enqueue;  ///< must not block
    std::function<bool(const ObjectKey&)> exists;   ///< returns whether an object exists
  };

  /// The functions must be thread-safe. `timers` and `clock` must outlive the object; the timers
  /// call it until they are destroyed.
  MaxInterval(Duration interval, TimerQueue& timers, Clock& clock, Functions functions)
      : interval_(interval), timers_(timers), clock_(clock), functions_(std::move(functions)) {}

  // Calls for one key must not be concurrent.

  /// Cancels the timer of `key` for the time of its reconcile.
  void OnStarted(const ObjectKey& key);
  /// Starts the timer of `key` if the object exists. Call OnStarted before.
  void OnReconciled(const ObjectKey& key);

 private:
  const Duration interval_;
  TimerQueue& timers_;
  Clock& clock_;
  const Functions functions_;
  detail::Guarded<std::unordered_map<ObjectKey, TimerQueue::Id>> timer_of_;  // some may have run
};

}  // namespace kopp
