#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <kopp/informer/informer.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::informer {

using KeyQueue = workqueue::Queue<ObjectKey>;

/// Puts the keys that `keys` gives for an object into the queue, at each of its changes; at an
/// update those of both states. The queue outlives the handler. For objects whose changes concern
/// others that are not their owners.
template <Object T>
EventHandler<T> EnqueueMapped(KeyQueue& queue,
                              std::function<std::vector<ObjectKey>(const T&)> keys) {
  using Ptr = std::shared_ptr<const T>;
  auto enqueue = [&queue, keys = std::move(keys)](const T& object) {
    for (const ObjectKey& key : keys(object)) queue.Add(key);
  };
  return {
      .on_add = [enqueue](const Ptr& object, bool) { enqueue(*object); },
      .on_update =
          [enqueue](const Ptr& before, const Ptr& after) {
            if (before != after) enqueue(*before);
            enqueue(*after);
          },
      .on_delete = [enqueue](const Ptr& object, bool) { enqueue(*object); },
  };
}

/// Puts the object's own key into the queue, at each of its changes and each resync. For the kind
/// that a controller is about.
template <Object T>
EventHandler<T> EnqueueKey(KeyQueue& queue) {
  return EnqueueMapped<T>(queue, [](const T& object) { return std::vector{KeyOf(object)}; });
}

/// Puts the key of the object's controller into the queue, where that is of the kind `owner`, of
/// whatever version. For the kinds that a controller makes. A resync of the object enqueues
/// nothing: its owner has a resync of its own.
template <Object T>
EventHandler<T> EnqueueOwner(KeyQueue& queue, Kind owner) {
  auto handler = EnqueueMapped<T>(queue, [owner](const T& object) -> std::vector<ObjectKey> {
    const OwnerReference* reference = ControllerOf(object.metadata);
    if (reference == nullptr || reference->kind != owner.kind) return {};
    if (Kind{reference->apiVersion, "", ""}.group() != owner.group()) return {};
    const bool namespaced = owner.scope == Scope::kNamespaced;
    return {{namespaced ? object.metadata.ns : "", reference->name}};
  });
  handler.on_update = [enqueue = std::move(handler.on_update)](const auto& before,
                                                               const auto& after) {
    if (before != after) enqueue(before, after);
  };
  return handler;
}

}  // namespace kopp::informer
