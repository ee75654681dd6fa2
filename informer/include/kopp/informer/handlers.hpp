#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/workqueue/fwd.hpp>

namespace kopp::informer {

/// A work queue of object keys. key_queue.hpp defines it.
using KeyQueue = workqueue::Queue<ObjectKey>;

/// The priority of keys that the initial list and resyncs enqueue, so that live changes are
/// processed first. Deletions always have priority 0. It only matters for queues with a priority
/// order. controller-runtime: handler.LowPriority.
inline constexpr int kLowPriority = -100;

/// The event for which a handler enqueues a key.
struct KeyEvent {
  enum class Type { kAdd, kUpdate, kDelete };

  Type type = Type::kAdd;
  const AnyObject& object;            ///< the new state; of a deleted object the last one
  const AnyObject* before = nullptr;  ///< the previous state; null unless it is an update
  bool in_initial_list = false;       ///< see AnyEventHandler::on_add
  /// Whether this is exactly one watch event with a new resource version, so the result of one
  /// write. False if events were merged, for example by a list, a busy handler or a filter.
  bool is_watch_event = false;

  /// Returns whether the update is a resync: the object has not changed.
  [[nodiscard]] bool IsResync() const;
  /// Returns whether something has changed: it is not a resync, and not of the initial list.
  [[nodiscard]] bool IsChange() const { return !in_initial_list && !IsResync(); }
};

/// Enqueues a key with a priority, on the thread of the handler. The handlers below call it.
using EnqueueFunction =
    std::function<void(const ObjectKey& key, int priority, const KeyEvent& event)>;

/// Returns a function that adds keys to `queue`. The queue must outlive it. The event is not
/// stored.
EnqueueFunction EnqueueTo(KeyQueue& queue);

// The handlers below exist in two forms: they enqueue keys with a function, or to a queue, which
// must outlive the handler. If the function does not block, add EnqueueKey and EnqueueOwner with
// Delivery::kInformerThread.

/// Returns a handler that enqueues the object's own key, at each change and each resync. Use it for
/// the primary kind of a controller.
/// controller-runtime: EnqueueRequestForObject.
AnyEventHandler EnqueueKey(EnqueueFunction enqueue);
inline AnyEventHandler EnqueueKey(KeyQueue& queue) { return EnqueueKey(EnqueueTo(queue)); }

/// Which owners EnqueueOwner enqueues. controller-runtime: OnlyControllerOwner.
enum class OwnerMatch {
  kController,  ///< the owner reference with `controller: true`
  kEveryOwner,  ///< all owner references
};

/// Returns a handler that enqueues the keys of the object's owners of the group and kind of
/// `owner`, in any version. Use it for the kinds that a controller creates. If an update changes
/// the owners, the old and the new ones are enqueued. An update that does not change the resource
/// version (a resync or a relist) enqueues nothing. controller-runtime: EnqueueRequestForOwner.
AnyEventHandler EnqueueOwner(EnqueueFunction enqueue, OwningKind owner,
                             OwnerMatch match = OwnerMatch::kController);
inline AnyEventHandler EnqueueOwner(KeyQueue& queue, OwningKind owner,
                                    OwnerMatch match = OwnerMatch::kController) {
  return EnqueueOwner(EnqueueTo(queue), std::move(owner), match);
}

/// Returns a handler that enqueues the keys which `map_func` returns for an object, at each change
/// and each resync. An update enqueues the keys of the old and the new state, each key once. Use it
/// if a change concerns objects that do not own the changed object. `map_func` is called on the
/// thread of the handler; it may block with Delivery::kOwnThread.
/// controller-runtime: EnqueueRequestsFromMapFunc.
AnyEventHandler EnqueueAnyMapped(
    EnqueueFunction enqueue,
    const std::function<std::vector<ObjectKey>(const AnyObject&)>& map_func);
inline AnyEventHandler EnqueueAnyMapped(
    KeyQueue& queue, const std::function<std::vector<ObjectKey>(const AnyObject&)>& map_func) {
  return EnqueueAnyMapped(EnqueueTo(queue), map_func);
}

/// EnqueueAnyMapped for objects of the view `T`.
template <ApiObject T>
AnyEventHandler EnqueueMapped(EnqueueFunction enqueue,
                              std::function<std::vector<ObjectKey>(const T&)> map_func) {
  const auto map_any = [map_func = std::move(map_func)](const AnyObject& object) {
    return map_func(*object.As<T>());
  };
  return EnqueueAnyMapped(std::move(enqueue), map_any);
}
template <ApiObject T>
AnyEventHandler EnqueueMapped(KeyQueue& queue,
                              std::function<std::vector<ObjectKey>(const T&)> map_func) {
  return EnqueueMapped<T>(EnqueueTo(queue), std::move(map_func));
}

}  // namespace kopp::informer
