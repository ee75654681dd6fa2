#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue::detail {

/// The items that wait until a time, the earliest first. It is a 4-ary heap with an index by item,
/// so an item can be rescheduled. Not thread-safe.
template <Item T, QueuePayload Payload = NoPayload>
class DelayHeap {
 public:
  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// Adds `item`, which waits until `ready_at`. If it is already waiting, the earlier time and the
  /// higher priority apply, and the payloads are merged. Returns true if this call made it the first
  /// item. `hash` must be Hash(item, …).
  bool Add(const T& item, std::uint32_t hash, TimePoint ready_at, int priority,
           Payload&& payload = {});

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Returns the time of the first item; TimePoint::max() if the heap is empty.
  [[nodiscard]] TimePoint next() const {
    return empty() ? TimePoint::max() : heap_.front().ready_at;
  }

  /// Removes and returns the first item. Items with the same time are in the order of their calls
  /// of Add. Requires: not empty.
  [[nodiscard]] QueuedItem<T, Payload> PopFront();
  /// Removes and returns the first item if its time has come; otherwise returns nullopt.
  [[nodiscard]] std::optional<QueuedItem<T, Payload>> Pop(TimePoint now) {
    return next() <= now ? std::optional(PopFront()) : std::nullopt;
  }

  void Clear() {
    table_.Clear();
    ClearAndShrink(heap_);
    ClearAndShrink(positions_);
  }

  /// Calls visit(item, ready_at, priority, payload) for the first `limit` items, the
  /// earliest first.
  template <typename Visit>
  void ForEarliest(std::size_t limit, Visit visit) const;

 private:
  struct Waiting {
    int priority = 0;
    [[no_unique_address]] Payload payload{};
  };
  using Table = ItemTable<T, Waiting>;
  struct Node {
    TimePoint ready_at;
    std::uint32_t sequence;  // orders the nodes with the same time; may wrap around
    Handle handle;

    [[nodiscard]] bool Before(const Node& other) const {
      if (ready_at != other.ready_at) return ready_at < other.ready_at;
      return static_cast<std::int32_t>(sequence - other.sequence) < 0;
    }
  };

  void Set(std::size_t position, const Node& node) {
    heap_[position] = node;
    positions_[node.handle] = static_cast<std::uint32_t>(position);
  }
  /// Stores `node` at `position`, or at a position above it that restores the heap order.
  void MoveUp(std::size_t position, Node node);
  /// Stores `node` at `position`, or at a position below it that restores the heap order.
  void MoveDown(std::size_t position, Node node);

  /// Prefetches the nodes of the children of the first item: one of them is next but one.
  void PrefetchNext() const {
    for (std::size_t child = 1; child <= kChildren && child < heap_.size(); ++child) {
      table_.PrefetchNode(heap_[child].handle);
    }
  }

  static constexpr std::size_t kChildren = 4;
  Table table_;
  std::vector<Node> heap_;
  // Positions in heap_, indexed by handle. They are not in table_, because each move in the heap
  // writes a position, and here they are dense.
  std::vector<std::uint32_t> positions_;
  std::uint32_t next_sequence_ = 0;
};

template <Item T, QueuePayload Payload>
bool DelayHeap<T, Payload>::Add(const T& item, std::uint32_t hash, TimePoint ready_at, int priority,
                       Payload&& payload) {
  // Reserve memory before anything changes, so that nothing after the Insert throws.
  if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(16, 2 * heap_.size()));
  if (positions_.capacity() < heap_.capacity()) positions_.reserve(heap_.capacity());
  const auto [handle, is_new] = table_.Insert(item, hash);
  Waiting& waiting = table_[handle];
  if (is_new) {
    waiting = {priority, std::move(payload)};
    if (positions_.size() <= handle) positions_.resize(handle + std::size_t{1});
    heap_.push_back({ready_at, next_sequence_++, handle});
    MoveUp(heap_.size() - 1, heap_.back());
  } else {
    waiting.priority = std::max(waiting.priority, priority);
    waiting.payload.Merge(std::move(payload));
    if (heap_[positions_[handle]].ready_at <= ready_at) return false;
    MoveUp(positions_[handle], {ready_at, next_sequence_++, handle});
  }
  return positions_[handle] == 0;
}

template <Item T, QueuePayload Payload>
QueuedItem<T, Payload> DelayHeap<T, Payload>::PopFront() {
  const Handle front = heap_.front().handle;
  QueuedItem<T, Payload> due{.item = table_.MoveOut(front),
                             .priority = table_[front].priority,
                             .payload = std::move(table_[front].payload)};
  table_.Erase(front);
  const Node last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) {
    Clear();
    return due;
  }
  MoveDown(0, last);
  table_.PrefetchSlotOf(heap_.front().handle);
  PrefetchNext();
  return due;
}

template <Item T, QueuePayload Payload>
template <typename Visit>
void DelayHeap<T, Payload>::ForEarliest(std::size_t limit, Visit visit) const {
  const auto later = [this](std::size_t a, std::size_t b) { return heap_[b].Before(heap_[a]); };
  std::vector<std::size_t> next;  // a heap of the positions whose parents were visited
  if (!empty()) next.push_back(0);
  for (; limit > 0 && !next.empty(); --limit) {
    std::pop_heap(next.begin(), next.end(), later);
    const std::size_t position = next.back();
    next.pop_back();
    const Node& node = heap_[position];
    visit(table_.ItemOf(node.handle), node.ready_at, table_[node.handle].priority,
          table_[node.handle].payload);
    const std::size_t first = position * kChildren + 1;
    for (std::size_t child = first; child < std::min(first + kChildren, heap_.size()); ++child) {
      next.push_back(child);
      std::push_heap(next.begin(), next.end(), later);
    }
  }
}

template <Item T, QueuePayload Payload>
void DelayHeap<T, Payload>::MoveUp(std::size_t position, Node node) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kChildren;
    if (!node.Before(heap_[parent])) break;
    Set(position, heap_[parent]);
    position = parent;
  }
  Set(position, node);
}

template <Item T, QueuePayload Payload>
void DelayHeap<T, Payload>::MoveDown(std::size_t position, Node node) {
  for (;;) {
    const std::size_t first = position * kChildren + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kChildren, heap_.size());
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].Before(heap_[earliest])) earliest = child;
    }
    if (!heap_[earliest].Before(node)) break;
    Set(position, heap_[earliest]);
    position = earliest;
  }
  Set(position, node);
}

}  // namespace kopp::workqueue::detail
