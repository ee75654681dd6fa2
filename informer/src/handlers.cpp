#include <algorithm>
#include <utility>

#include <kopp/informer/handlers.hpp>

template class kopp::workqueue::Queue<kopp::ObjectKey>;

namespace kopp::informer {

namespace {

bool Changed(const AnyObject& before, const AnyObject& after) {
  return before.metadata().resourceVersion != after.metadata().resourceVersion;
}

int PriorityOfAdd(bool in_initial_list) { return in_initial_list ? kLowPriority : 0; }

int PriorityOfUpdate(const AnyObject& before, const AnyObject& after) {
  return Changed(before, after) ? 0 : kLowPriority;
}

}  // namespace

AnyHandler EnqueueAnyMapped(KeyQueue& queue,
                            const std::function<std::vector<ObjectKey>(const AnyObject&)>& keys) {
  const auto enqueue = [&queue, keys](const AnyObject& object, int priority) {
    for (const ObjectKey& key : keys(object)) queue.Add(key, priority);
  };
  // Each key once: a worker may take it between two Adds, and would then run twice.
  const auto enqueue_both = [&queue, keys](const AnyObject& before, const AnyObject& after) {
    std::vector<ObjectKey> both = keys(after);
    for (ObjectKey& key : keys(before)) {
      if (std::find(both.begin(), both.end(), key) == both.end()) both.push_back(std::move(key));
    }
    for (const ObjectKey& key : both) queue.Add(key, PriorityOfUpdate(before, after));
  };
  return {
      .on_add = [enqueue](const AnyObject& object,
                          bool initial) { enqueue(object, PriorityOfAdd(initial)); },
      .on_update = enqueue_both,
      .on_delete = [enqueue](const AnyObject& object, bool) { enqueue(object, 0); },
  };
}

AnyHandler EnqueueKey(KeyQueue& queue) {
  return {
      .on_add = [&queue](const AnyObject& object,
                         bool initial) { queue.Add(object.key(), PriorityOfAdd(initial)); },
      .on_update =
          [&queue](const AnyObject& before, const AnyObject& after) {
            queue.Add(after.key(), PriorityOfUpdate(before, after));
          },
      .on_delete = [&queue](const AnyObject& object, bool) { queue.Add(object.key()); },
  };
}

AnyHandler EnqueueOwner(KeyQueue& queue, const Kind& owner) {
  AnyHandler handler =
      EnqueueAnyMapped(queue, [owner](const AnyObject& object) -> std::vector<ObjectKey> {
        const OwnerReference* reference = ControllerOf(object.metadata());
        if (reference == nullptr || reference->kind != owner.kind) return {};
        if (Kind{reference->apiVersion, "", ""}.group() != owner.group()) return {};
        const bool namespaced = owner.scope == Scope::kNamespaced;
        return {{namespaced ? object.metadata().ns : "", reference->name}};
      });
  handler.on_update = [enqueue = std::move(handler.on_update)](const AnyObject& before,
                                                               const AnyObject& after) {
    if (Changed(before, after)) enqueue(before, after);
  };
  return handler;
}

}  // namespace kopp::informer
