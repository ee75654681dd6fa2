#include "handler_queue.hpp"

#include <utility>

#include <kopp/workqueue/item_hash.hpp>

namespace kopp::informer::detail {

void HandlerQueue::Push(HandlerEvent event) {
  if (event.type == HandlerEvent::Type::kSynced) {
    pending_.push_back({.has_change = true});
    return;
  }
  const std::uint32_t hash = Hash(event.object);
  const std::uint32_t number = FindOrAdd(event.object, hash);
  Pending& pending = At(number);
  Merge(pending, std::move(event));
  if (!pending.empty()) return;
  by_key_.Erase(hash, number);
  ++empty_entries_;
  PopEmpty();
  if (empty_entries_ > pending_.size() / 2) Compact();
}

HandlerEvent HandlerQueue::Pop() {
  Pending& first = pending_.front();
  if (first.deletion && first.deletion->before) {
    return {.type = HandlerEvent::Type::kUpdate,
            .object = first.deletion->object,
            .before = std::exchange(first.deletion->before, {})};
  }
  if (first.deletion && first.has_change) return std::move(*std::exchange(first.deletion, nullptr));
  HandlerEvent event = first.deletion ? std::move(*first.deletion) : TakeChange(first);
  if (event.object) by_key_.Erase(Hash(event.object), first_number_);
  pending_.pop_front();
  ++first_number_;
  PopEmpty();
  return event;
}

void HandlerQueue::Merge(Pending& pending, HandlerEvent event) {
  using Type = HandlerEvent::Type;
  event.is_watch_event = event.is_watch_event && pending.empty();
  pending.is_watch_event = event.is_watch_event;
  if (event.type == Type::kDelete) {
    const bool handler_knows_it = !pending.has_change || pending.type != Type::kAdd;
    if (pending.before) event.before = std::move(*pending.before);
    pending.ClearChange();
    if (handler_knows_it) pending.deletion = std::make_unique<HandlerEvent>(std::move(event));
    return;
  }
  const bool is_resync = event.type == Type::kUpdate && event.before == event.object;
  if (!pending.has_change || event.type == Type::kAdd) {
    pending.ClearChange();
    pending.has_change = true;
    pending.type = event.type;
    pending.in_initial_list = event.in_initial_list;
  }
  if (pending.type == Type::kUpdate && !pending.before && !is_resync) {
    pending.before = std::make_unique<AnyObject>(std::move(event.before));
  }
  pending.object = std::move(event.object);
}

HandlerEvent HandlerQueue::TakeChange(Pending& pending) {
  HandlerEvent event{.type = pending.type,
                     .in_initial_list = pending.in_initial_list,
                     .is_watch_event = pending.is_watch_event};
  if (pending.type == HandlerEvent::Type::kUpdate) {
    event.before = pending.before ? std::move(*pending.before) : pending.object;
  }
  event.object = std::move(pending.object);
  return event;
}

void HandlerQueue::Pending::ClearChange() {
  has_change = false;
  object = {};
  before = {};
}

std::uint32_t HandlerQueue::Hash(const AnyObject& object) const {
  using workqueue::HashBytes;
  return static_cast<std::uint32_t>(HashBytes(object.name(), HashBytes(object.ns(), seed_)) >> 32);
}

std::uint32_t HandlerQueue::FindOrAdd(const AnyObject& object, std::uint32_t hash) {
  const auto found = by_key_.Find(hash, [&](std::uint32_t number) {
    const AnyObject& other = At(number).AnyState();
    return other.name() == object.name() && other.ns() == object.ns();
  });
  if (found) return *found;
  const auto number = first_number_ + static_cast<std::uint32_t>(pending_.size());
  pending_.emplace_back();
  by_key_.Insert(hash, number);
  return number;
}

/// Removes the empty entries at the front.
void HandlerQueue::PopEmpty() {
  for (; !pending_.empty() && pending_.front().empty(); --empty_entries_, ++first_number_) {
    pending_.pop_front();
  }
}

/// Removes all empty entries, so that the memory stays limited by the number of objects.
void HandlerQueue::Compact() {
  std::erase_if(pending_, [](const Pending& pending) { return pending.empty(); });
  empty_entries_ = 0;
  by_key_ = {};
  std::uint32_t number = first_number_;
  for (const Pending& pending : pending_) {
    if (pending.AnyState()) by_key_.Insert(Hash(pending.AnyState()), number);
    ++number;
  }
}

}  // namespace kopp::informer::detail
