#include <algorithm>
#include <utility>

#include <kopp/informer/handlers.hpp>

template class kopp::workqueue::Queue<kopp::ObjectKey>;

namespace kopp::informer {

namespace {

bool VersionChanged(const AnyObject& before, const AnyObject& after) {
  return before.metadata().resourceVersion != after.metadata().resourceVersion;
}

int PriorityOfAdd(bool in_initial_list) { return in_initial_list ? kLowPriority : 0; }

int PriorityOfUpdate(const AnyObject& before, const AnyObject& after) {
  return VersionChanged(before, after) ? 0 : kLowPriority;
}

}  // namespace

AnyEventHandler EnqueueAnyMapped(
    KeyQueue& queue, const std::function<std::vector<ObjectKey>(const AnyObject&)>& map_func) {
  const auto enqueue = [&queue, map_func](const AnyObject& object, int priority) {
    for (const ObjectKey& key : map_func(object)) queue.Add(key, priority);
  };
  // Adds each key once. If a key were added twice, a worker could get it in between and process it
  // twice.
  const auto enqueue_old_and_new = [&queue, map_func](const AnyObject& before,
                                                      const AnyObject& after) {
    std::vector<ObjectKey> keys = map_func(after);
    for (ObjectKey& key : map_func(before)) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    }
    for (const ObjectKey& key : keys) queue.Add(key, PriorityOfUpdate(before, after));
  };
  return {
      .on_add = [enqueue](
                    const AnyObject& object,
                    bool in_initial_list) { enqueue(object, PriorityOfAdd(in_initial_list)); },
      .on_update = enqueue_old_and_new,
      .on_delete = [enqueue](const AnyObject& object, bool) { enqueue(object, 0); },
  };
}

AnyEventHandler EnqueueKey(KeyQueue& queue) {
  return {
      .on_add =
          [&queue](const AnyObject& object, bool in_initial_list) {
            queue.Add(object.key(), PriorityOfAdd(in_initial_list));
          },
      .on_update =
          [&queue](const AnyObject& before, const AnyObject& after) {
            queue.Add(after.key(), PriorityOfUpdate(before, after));
          },
      .on_delete = [&queue](const AnyObject& object, bool) { queue.Add(object.key()); },
  };
}

AnyEventHandler EnqueueOwner(KeyQueue& queue, const Kind& owner) {
  AnyEventHandler handler =
      EnqueueAnyMapped(queue, [owner](const AnyObject& object) -> std::vector<ObjectKey> {
        const OwnerReference* reference = ControllerOf(object.metadata());
        if (reference == nullptr || reference->kind != owner.kind) return {};
        if (Kind{reference->apiVersion, "", ""}.group() != owner.group()) return {};
        const bool namespaced = owner.scope == Scope::kNamespaced;
        return {{namespaced ? object.metadata().ns : "", reference->name}};
      });
  handler.on_update = [enqueue = std::move(handler.on_update)](const AnyObject& before,
                                                               const AnyObject& after) {
    if (VersionChanged(before, after)) enqueue(before, after);
  };
  return handler;
}

}  // namespace kopp::informer
