#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item_table.hpp>

namespace kopp::workqueue {

/// Items that wait for their moment, the earliest in front: a heap of four children a node, in
/// which an item can be moved ahead. Not safe to use from two threads at once.
template <Item T>
class DueHeap {
 public:
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// Lets `item` wait until `at`, or until its earlier moment if it waits already; it keeps the
  /// higher priority. Returns whether it is in front now. `hash` is Hash(item, …).
  bool Add(const T& item, std::uint32_t hash, TimePoint at, int priority);

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// When the one in front is due; TimePoint::max() when empty.
  [[nodiscard]] TimePoint next() const { return empty() ? TimePoint::max() : heap_.front().at; }

  /// Takes the one in front out. Among those of one moment, first added is first out. Requires: not
  /// empty.
  [[nodiscard]] Prioritized<T> PopFront();

  void Clear() {
    table_.Clear();
    GiveBack(heap_);
    GiveBack(spots_);
  }

  /// Calls visit(item, at, priority) for the first `limit`, the earliest first.
  template <typename Visit>
  void ForEarliest(std::size_t limit, Visit visit) const;

 private:
  struct Waiting {
    int priority = 0;
  };
  using Table = ItemTable<T, Waiting>;
  struct Spot {
    TimePoint at;
    std::uint32_t order;  // among those of one moment; may run over
    Handle handle;

    [[nodiscard]] bool Before(const Spot& other) const {
      if (at != other.at) return at < other.at;
      return static_cast<std::int32_t>(order - other.order) < 0;
    }
  };

  void Set(std::size_t at, const Spot& spot) {
    heap_[at] = spot;
    spots_[spot.handle] = static_cast<std::uint32_t>(at);
  }
  void MoveAhead(std::size_t at, Spot spot);
  void MoveBack(std::size_t at, Spot spot);

  static constexpr std::size_t kChildren = 4;
  Table table_;
  std::vector<Spot> heap_;
  std::vector<std::uint32_t> spots_;  // in the heap, by handle: dense, since each move writes one
  std::uint32_t orders_ = 0;
};

template <Item T>
bool DueHeap<T>::Add(const T& item, std::uint32_t hash, TimePoint at, int priority) {
  // Before anything changes: what follows the Insert cannot run out of memory.
  if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(16, 2 * heap_.size()));
  if (spots_.capacity() < heap_.capacity()) spots_.reserve(heap_.capacity());
  const auto [handle, is_new] = table_.Insert(item, hash);
  Waiting& waiting = table_[handle];
  if (is_new) {
    waiting.priority = priority;
    if (spots_.size() <= handle) spots_.resize(handle + std::size_t{1});
    heap_.push_back({at, orders_++, handle});
    MoveAhead(heap_.size() - 1, heap_.back());
  } else {
    waiting.priority = std::max(waiting.priority, priority);
    if (heap_[spots_[handle]].at <= at) return false;
    MoveAhead(spots_[handle], {at, orders_++, handle});
  }
  return spots_[handle] == 0;
}

template <Item T>
Prioritized<T> DueHeap<T>::PopFront() {
  const Handle front = heap_.front().handle;
  Prioritized<T> due{table_.Release(front), table_[front].priority};
  table_.Erase(front);
  const Spot last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) {
    Clear();
    return due;
  }
  MoveBack(0, last);
  table_.ExpectNode(heap_.front().handle);
  const std::size_t end = std::min(kChildren + 1, heap_.size());
  for (std::size_t at = 1; at < end; ++at)
    table_.ExpectItem(heap_[at].handle);  // one is next but one
  return due;
}

template <Item T>
template <typename Visit>
void DueHeap<T>::ForEarliest(std::size_t limit, Visit visit) const {
  const auto later = [this](std::size_t a, std::size_t b) { return heap_[b].Before(heap_[a]); };
  std::vector<std::size_t> next;  // those whose parents were visited: a heap in its turn
  if (!empty()) next.push_back(0);
  for (; limit > 0 && !next.empty(); --limit) {
    std::pop_heap(next.begin(), next.end(), later);
    const std::size_t at = next.back();
    next.pop_back();
    const Spot& spot = heap_[at];
    visit(table_.ItemOf(spot.handle), spot.at, table_[spot.handle].priority);
    const std::size_t first = at * kChildren + 1;
    for (std::size_t child = first; child < std::min(first + kChildren, heap_.size()); ++child) {
      next.push_back(child);
      std::push_heap(next.begin(), next.end(), later);
    }
  }
}

template <Item T>
void DueHeap<T>::MoveAhead(std::size_t at, Spot spot) {
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (!spot.Before(heap_[parent])) break;
    Set(at, heap_[parent]);
    at = parent;
  }
  Set(at, spot);
}

template <Item T>
void DueHeap<T>::MoveBack(std::size_t at, Spot spot) {
  for (;;) {
    const std::size_t first = at * kChildren + 1;
    if (first >= heap_.size()) break;
    const std::size_t end = std::min(first + kChildren, heap_.size());
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child].Before(heap_[earliest])) earliest = child;
    }
    if (!heap_[earliest].Before(spot)) break;
    Set(at, heap_[earliest]);
    at = earliest;
  }
  Set(at, spot);
}

}  // namespace kopp::workqueue
