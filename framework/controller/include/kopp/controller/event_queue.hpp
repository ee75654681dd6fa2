#pragma once

#include <string>
#include <utility>

#include <kopp/controller/reason.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/fwd.hpp>

namespace kopp {

class OwnEvents;

/// The queue of a controller.
using ControllerQueue = workqueue::CoalescingQueue<ObjectKey, QueuedReasons>;

/// The interface of a controller's queue for event handlers and sources, which add the keys of the
/// objects to reconcile. Adds are coalesced if ControllerOptions::coalesce is set. Adds are newer
/// events for Context::Superseded, except those of the types kInitialList, kResync, kTimer, kRetry,
/// kRequeueAfter and kMaxInterval, and those of AddAfter. Thread-safe. Cheap to copy. The queue of
/// the controller must outlive it.
class EventQueue {
 public:
  /// `source` is the source in the reasons that are added without a Reason. `own_events`, if not
  /// null, must outlive the object: it keeps the events of own writes from the queue.
  explicit EventQueue(ControllerQueue& queue, bool keep_reasons = false, std::string source = {},
                      OwnEvents* own_events = nullptr)
      : queue_(&queue),
        keep_reasons_(keep_reasons),
        source_(std::move(source)),
        own_events_(own_events) {}

  /// Returns a copy for another source.
  [[nodiscard]] EventQueue ForSource(std::string source) const {
    return EventQueue(*queue_, keep_reasons_, std::move(source), own_events_);
  }

  /// Adds a key, to reconcile the object soon. A larger `priority` is higher.
  void Add(const ObjectKey& key, int priority = 0) const;
  void Add(const ObjectKey& key, Reason::Type type, int priority = 0) const;
  void Add(const ObjectKey& key, Reason reason, int priority = 0) const;
  /// Adds a key after `delay`. If the key is already delayed, the earlier time applies.
  void AddAfter(const ObjectKey& key, Duration delay, int priority = 0) const;

  /// Returns the function for the handlers in informer/handlers.hpp. The source is the kind. An
  /// event of a write of the key's own reconciles does not cut short the delay of a key that is
  /// retried: see docs/controllers.md, "Own writes".
  [[nodiscard]] informer::EnqueueFunction Enqueue() const;

 private:
  /// Returns whether a reason of this type is a newer event.
  [[nodiscard]] static bool IsChange(Reason::Type type);

  ControllerQueue* queue_;
  bool keep_reasons_;
  std::string source_;
  OwnEvents* own_events_;  // may be null
};

}  // namespace kopp
