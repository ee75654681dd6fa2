#include "handler_call.hpp"

#include <algorithm>
#include <string>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/key_queue.hpp>

namespace kopp::informer {

namespace {

bool VersionChanged(const AnyObject& before, const AnyObject& after) {
  return before.metadata().resourceVersion != after.metadata().resourceVersion;
}

/// Sets KeyEvent::is_watch_event. A handler that calls this one may have changed the event.
KeyEvent Classified(KeyEvent event) {
  using Handled = detail::HandlerEvent::Type;
  using Type = KeyEvent::Type;
  const detail::HandlerEvent* call = detail::HandlerCall::Current();
  if (call == nullptr || !call->is_watch_event || !(call->object == event.object)) return event;
  const bool is_same = event.type == Type::kAdd      ? call->type == Handled::kAdd
                       : event.type == Type::kDelete ? call->type == Handled::kDelete
                                                     : call->before == *event.before;
  event.is_watch_event = is_same;
  return event;
}

int PriorityOf(const KeyEvent& event) { return event.IsChange() ? 0 : kLowPriority; }

/// Returns whether the group and kind of `reference` are those of `owner`.
bool Refers(const OwnerReference& reference, const Kind& owner) {
  return reference.kind == owner.kind &&
         Kind{reference.apiVersion, "", ""}.group() == owner.group();
}

/// Returns the keys of the matching owners of an object; each key once.
std::vector<ObjectKey> OwnerKeys(const ObjectMeta& object, const Kind& owner, OwnerMatch match) {
  std::vector<ObjectKey> keys;
  const std::string ns = owner.scope == Scope::kNamespaced ? object.ns : "";
  const std::vector<OwnerReference>& references = object.ownerReferences;
  for (const OwnerReference& reference : references) {
    if (match == OwnerMatch::kController && !reference.controller) continue;
    if (!Refers(reference, owner)) continue;
    ObjectKey key{ns, reference.name};
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace

bool KeyEvent::IsResync() const {
  return type == Type::kUpdate && before != nullptr && !VersionChanged(*before, object);
}

EnqueueFunction EnqueueTo(KeyQueue& queue) {
  return [&queue](const ObjectKey& key, int priority, const KeyEvent&) {
    queue.Add(key, {.priority = priority});
  };
}

AnyEventHandler EnqueueAnyMapped(
    EnqueueFunction enqueue,
    const std::function<std::vector<ObjectKey>(const AnyObject&)>& map_func) {
  const auto enqueue_all = [enqueue = std::move(enqueue)](const std::vector<ObjectKey>& keys,
                                                          const KeyEvent& event) {
    const KeyEvent classified = Classified(event);
    for (const ObjectKey& key : keys) enqueue(key, PriorityOf(event), classified);
  };
  // Adds each key once. If a key were added twice, a worker could get it in between and process it
  // twice.
  const auto enqueue_old_and_new = [enqueue_all, map_func](const AnyObject& before,
                                                           const AnyObject& after) {
    std::vector<ObjectKey> keys = map_func(after);
    for (ObjectKey& key : map_func(before)) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    }
    enqueue_all(keys, {.type = KeyEvent::Type::kUpdate, .object = after, .before = &before});
  };
  return {
      .on_add =
          [enqueue_all, map_func](const AnyObject& object, bool in_initial_list) {
            enqueue_all(map_func(object), {.object = object, .in_initial_list = in_initial_list});
          },
      .on_update = enqueue_old_and_new,
      .on_delete =
          [enqueue_all, map_func](const AnyObject& object, bool) {
            enqueue_all(map_func(object), {.type = KeyEvent::Type::kDelete, .object = object});
          },
  };
}

AnyEventHandler EnqueueKey(EnqueueFunction enqueue) {
  const auto enqueue_key = [enqueue = std::move(enqueue)](const KeyEvent& event) {
    enqueue(event.object.key(), PriorityOf(event), Classified(event));
  };
  return {
      .on_add =
          [enqueue_key](const AnyObject& object, bool in_initial_list) {
            enqueue_key({.object = object, .in_initial_list = in_initial_list});
          },
      .on_update =
          [enqueue_key](const AnyObject& before, const AnyObject& after) {
            enqueue_key({.type = KeyEvent::Type::kUpdate, .object = after, .before = &before});
          },
      .on_delete = [enqueue_key](
                       const AnyObject& object,
                       bool) { enqueue_key({.type = KeyEvent::Type::kDelete, .object = object}); },
  };
}

AnyEventHandler EnqueueOwner(EnqueueFunction enqueue, OwningKind owner, OwnerMatch match) {
  AnyEventHandler handler = EnqueueAnyMapped(
      std::move(enqueue), [owner = std::move(owner), match](const AnyObject& object) {
        return OwnerKeys(object.metadata(), owner, match);
      });
  handler.on_update = [enqueue_both = std::move(handler.on_update)](const AnyObject& before,
                                                                    const AnyObject& after) {
    if (VersionChanged(before, after)) enqueue_both(before, after);
  };
  return handler;
}

}  // namespace kopp::informer
