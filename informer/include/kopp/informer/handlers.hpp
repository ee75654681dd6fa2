#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <kopp/informer/event_handler.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::informer {

/// A work queue of object keys.
using KeyQueue = workqueue::Queue<ObjectKey>;

/// The priority of keys that the initial list and resyncs enqueue, so that live changes are
/// processed first. Deletions always have priority 0. It only matters for queues with a priority
/// order. controller-runtime: handler.LowPriority.
inline constexpr int kLowPriority = -100;

/// Returns a handler that enqueues the object's own key, at each change and each resync. Use it for
/// the primary kind of a controller. It never blocks: add it with Delivery::kInformerThread. The
/// queue must outlive the handler.
/// controller-runtime: EnqueueRequestForObject.
AnyEventHandler EnqueueKey(KeyQueue& queue);

/// Returns a handler that enqueues the key of the object's controller (the owner reference with
/// `controller: true`) if that has the group and kind of `owner`, in any version. Use it for the
/// kinds that a controller creates. If an update changes the controller, both keys are enqueued. An
/// update that does not change the resource version (a resync or a relist) enqueues nothing. It
/// never blocks: add it with Delivery::kInformerThread. The queue must outlive the handler.
/// controller-runtime: EnqueueRequestForOwner with OnlyControllerOwner.
AnyEventHandler EnqueueOwner(KeyQueue& queue, const Kind& owner);

/// Returns a handler that enqueues the keys which `map_func` returns for an object, at each change
/// and each resync. An update enqueues the keys of the old and the new state, each key once. Use it
/// if a change concerns objects that do not own the changed object. `map_func` is called on the
/// thread of the handler; it may block with Delivery::kOwnThread. The queue must outlive the
/// handler.
/// controller-runtime: EnqueueRequestsFromMapFunc.
AnyEventHandler EnqueueAnyMapped(
    KeyQueue& queue, const std::function<std::vector<ObjectKey>(const AnyObject&)>& map_func);

/// EnqueueAnyMapped for objects of the view `T`.
template <Object T>
AnyEventHandler EnqueueMapped(KeyQueue& queue,
                              std::function<std::vector<ObjectKey>(const T&)> map_func) {
  return EnqueueAnyMapped(queue, [map_func = std::move(map_func)](const AnyObject& object) {
    return map_func(*object.As<T>());
  });
}

}  // namespace kopp::informer

// Instantiated once, in handlers.cpp, to reduce the compile time of programs.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): see Queue
extern template class kopp::workqueue::Queue<kopp::ObjectKey>;
