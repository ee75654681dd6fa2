#include <kopp/informer/handlers.hpp>

template class kopp::workqueue::Queue<kopp::ObjectKey>;

namespace kopp::informer {

AnyHandler EnqueueAnyMapped(KeyQueue& queue,
                            std::function<std::vector<ObjectKey>(const AnyObject&)> keys) {
  const auto enqueue = [&queue, keys = std::move(keys)](const AnyObject& object) {
    for (const ObjectKey& key : keys(object)) queue.Add(key);
  };
  return {
      .on_add = [enqueue](const AnyObject& object, bool) { enqueue(object); },
      .on_update =
          [enqueue](const AnyObject& before, const AnyObject& after) {
            if (!(before == after)) enqueue(before);
            enqueue(after);
          },
      .on_delete = [enqueue](const AnyObject& object, bool) { enqueue(object); },
  };
}

AnyHandler EnqueueKey(KeyQueue& queue) {
  return EnqueueAnyMapped(queue, [](const AnyObject& object) { return std::vector{object.key()}; });
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
    const bool changed = before.metadata().resourceVersion != after.metadata().resourceVersion;
    if (changed) enqueue(before, after);
  };
  return handler;
}

}  // namespace kopp::informer
