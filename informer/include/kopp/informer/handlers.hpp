#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <kopp/informer/informer.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::informer {

using KeyQueue = workqueue::Queue<ObjectKey>;

/// Of the keys that a first list and a resync put in, where the order of the queue has priorities:
/// they go behind what happens meanwhile. A deletion is never behind.
inline constexpr int kLowPriority = -100;

/// Puts the object's own key into the queue, at each of its changes and each resync. For the kind
/// that a controller is about. The queue outlives the handler.
AnyHandler EnqueueKey(KeyQueue& queue);

/// Puts the key of the object's controller into the queue, where that is of the kind `owner`, of
/// whatever version. For the kinds that a controller makes. An update that changed nothing (a
/// resync, or a list after a watch that broke) enqueues nothing. The queue outlives the handler.
AnyHandler EnqueueOwner(KeyQueue& queue, const Kind& owner);

/// Puts the keys that `keys` gives for an object into the queue, at each of its changes; at an
/// update those of both states. For objects whose changes concern others that are not their owners.
/// The queue outlives the handler.
AnyHandler EnqueueAnyMapped(KeyQueue& queue,
                            const std::function<std::vector<ObjectKey>(const AnyObject&)>& keys);

template <Object T>
AnyHandler EnqueueMapped(KeyQueue& queue, std::function<std::vector<ObjectKey>(const T&)> keys) {
  return EnqueueAnyMapped(
      queue, [keys = std::move(keys)](const AnyObject& object) { return keys(*object.As<T>()); });
}

}  // namespace kopp::informer

// Compiled once, in handlers.cpp, not in each program.
extern template class kopp::workqueue::Queue<kopp::ObjectKey>;
