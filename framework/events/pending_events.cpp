#include "pending_events.hpp"

#include <algorithm>
#include <utility>

namespace kopp {

PendingEvents::NamespaceQueue& PendingEvents::QueueOf(const std::string& ns) {
  const auto [found, is_new] = queues_.try_emplace(ns);
  if (is_new) found->second.turn = ++last_turn_;
  return found->second;
}

std::optional<std::string> PendingEvents::Add(const std::string& ns, PendingEvent event) {
  std::optional<std::string> dropped;
  if (size_ >= kCapacity) {
    const auto longest = std::ranges::max_element(
        queues_, {}, [](const auto& entry) { return entry.second.events.size(); });
    const auto own = queues_.find(ns);
    const std::size_t own_size = own == queues_.end() ? 0 : own->second.events.size();
    if (own_size + 1 >= longest->second.events.size()) return ns;
    dropped = longest->first;
    longest->second.events.pop_back();  // it had at least two
    --size_;
  }
  QueueOf(ns).events.push_back(std::move(event));
  ++size_;
  return dropped;
}

void PendingEvents::PutBack(PendingEvent event, TimePoint time) {
  NamespaceQueue& queue = QueueOf(event.request.key.ns);
  queue.events.push_front(std::move(event));
  queue.not_before = time;
  ++size_;
}

std::optional<PendingEvent> PendingEvents::Take(TimePoint now) {
  const auto rank = [&](const auto& entry) {
    return std::pair(entry.second.not_before > now, entry.second.turn);
  };
  const auto next = std::ranges::min_element(queues_, {}, rank);
  if (next == queues_.end() || next->second.not_before > now) return std::nullopt;
  NamespaceQueue& queue = next->second;
  PendingEvent event = std::move(queue.events.front());
  queue.events.pop_front();
  queue.turn = ++last_turn_;
  --size_;
  if (queue.events.empty()) queues_.erase(next);
  return event;
}

TimePoint PendingEvents::NextTime() const {
  TimePoint next = TimePoint::max();
  for (const auto& [ns, queue] : queues_) next = std::min(next, queue.not_before);
  return next;
}

void PendingEvents::EndWaits() {
  for (auto& [ns, queue] : queues_) queue.not_before = TimePoint::min();
}

std::size_t PendingEvents::Remove(const std::string& ns) {
  const auto found = queues_.find(ns);
  if (found == queues_.end()) return 0;
  const std::size_t count = found->second.events.size();
  size_ -= count;
  queues_.erase(found);
  return count;
}

std::size_t PendingEvents::Clear() {
  queues_.clear();
  return std::exchange(size_, 0);
}

}  // namespace kopp
