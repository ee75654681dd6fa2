#include "handler_queue.hpp"

#include <utility>

namespace kopp::informer::detail {

void HandlerQueue::Push(HandlerEvent event) {
  if (event.type == HandlerEvent::Type::kSynced) {
    pending_.push_back({.change = std::move(event)});
    return;
  }
  const auto [found, is_new] = by_key_.try_emplace(event.object.key());
  if (is_new) found->second = pending_.emplace(pending_.end());
  Pending& pending = *found->second;
  Merge(pending, std::move(event));
  if (pending.deletion || pending.change) return;
  pending_.erase(found->second);
  by_key_.erase(found);
}

void HandlerQueue::Merge(Pending& pending, HandlerEvent event) {
  using Type = HandlerEvent::Type;
  if (event.type == Type::kDelete) {
    const auto change = std::exchange(pending.change, std::nullopt);
    if (change && change->type == Type::kAdd) return;  // the handler does not know the object
    const bool is_resync = change && change->before == change->object;
    if (change && !is_resync) event.before = change->before;
    pending.deletion = std::move(event);
  } else if (event.type == Type::kUpdate && pending.change) {
    pending.change->object = std::move(event.object);
  } else {
    pending.change = std::move(event);
  }
}

HandlerEvent HandlerQueue::Pop() {
  Pending& first = pending_.front();
  if (first.deletion && first.deletion->before) {
    return {.type = HandlerEvent::Type::kUpdate,
            .object = first.deletion->object,
            .before = std::exchange(first.deletion->before, {})};
  }
  const bool has_another = first.deletion && first.change;
  if (has_another) return *std::exchange(first.deletion, std::nullopt);
  HandlerEvent event = std::move(first.deletion ? *first.deletion : *first.change);
  if (event.object) by_key_.erase(event.object.key());
  pending_.pop_front();
  return event;
}

}  // namespace kopp::informer::detail
