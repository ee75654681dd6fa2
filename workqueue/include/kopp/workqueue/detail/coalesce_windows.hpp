#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/coalesce.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue::detail {

/// The items whose adds are being coalesced, each with the end of its wait. Not thread-safe.
///
/// A further add only writes a new end. The heap keeps the old end, at which Pop finds the new one
/// and moves the item: a burst therefore costs one move per quiet time, not one per add.
template <Item T, QueuePayload Payload>
class CoalesceWindows {
 public:
  explicit CoalesceWindows(const Coalesce& options) : options_(options) {}

  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// Adds `item` at the time `now`. The highest priority applies, and the payloads are merged.
  /// Returns true if next() has become earlier.
  bool Add(const T& item, std::uint32_t hash, TimePoint now, int priority, Payload&& payload) {
    if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(16, 2 * size()));
    const auto [handle, is_new] = table_.Insert(item, hash);
    Window& window = table_[handle];
    if (is_new) {
      window = {.latest_end = options_.LatestEnd(now),
                .priority = priority,
                .payload = std::move(payload)};
    } else {
      window.payload.Merge(std::move(payload));
    }
    window.end = std::min(SaturatingAdd(now, options_.quiet), window.latest_end);
    window.priority = std::max(window.priority, priority);
    if (!is_new) return false;
    const TimePoint previous = next();
    heap_.push_back({window.end, handle});
    std::ranges::push_heap(heap_, Later{});
    return window.end < previous;
  }

  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Returns a time before which no wait ends; TimePoint::max() if there are no items.
  [[nodiscard]] TimePoint next() const {
    return heap_.empty() ? TimePoint::max() : heap_.front().look_at;
  }

  /// Removes and returns an item whose wait has ended; nullopt if there is none.
  [[nodiscard]] std::optional<QueuedItem<T, Payload>> Pop(TimePoint now) {
    while (next() <= now) {
      std::ranges::pop_heap(heap_, Later{});
      Node& last = heap_.back();
      const Handle handle = last.handle;
      if (table_[handle].end > now) {
        last.look_at = table_[handle].end;
        std::ranges::push_heap(heap_, Later{});
        continue;
      }
      Window& window = table_[handle];
      QueuedItem<T, Payload> due{.item = table_.MoveOut(handle),
                                 .priority = window.priority,
                                 .payload = std::move(window.payload)};
      heap_.pop_back();
      table_.Erase(handle);
      if (heap_.empty()) Clear();
      return due;
    }
    return std::nullopt;
  }

  void Clear() {
    table_.Clear();
    ClearAndShrink(heap_);
  }

  /// Calls visit(item, end, priority, payload) for the first `limit` items, the earliest first.
  template <typename Visit>
  void ForEarliest(std::size_t limit, Visit visit) const {
    std::vector<Node> nodes;
    nodes.reserve(size());
    for (const Node& node : heap_) nodes.push_back({table_[node.handle].end, node.handle});
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(std::min(limit, nodes.size()));
    std::ranges::partial_sort(nodes, end, {}, &Node::look_at);
    for (auto node = nodes.begin(); node != end; ++node) {
      visit(table_.ItemOf(node->handle), node->look_at, table_[node->handle].priority,
            table_[node->handle].payload);
    }
  }

 private:
  struct Window {
    TimePoint latest_end{};
    TimePoint end{};
    int priority = 0;
    [[no_unique_address]] Payload payload{};
  };
  struct Node {
    TimePoint look_at;
    Handle handle;
  };
  struct Later {
    bool operator()(const Node& a, const Node& b) const { return a.look_at > b.look_at; }
  };
  using Table = ItemTable<T, Window>;

  const Coalesce options_;
  Table table_;
  std::vector<Node> heap_;  // one node per item, the earliest first
};

}  // namespace kopp::workqueue::detail
