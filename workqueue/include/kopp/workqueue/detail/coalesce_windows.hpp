#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/coalesce.hpp>
#include <kopp/workqueue/detail/item_notes.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue::detail {

/// The items whose adds are being coalesced, each with the end of its wait. Not thread-safe.
///
/// A further add only writes a new end. The heap keeps the old end, at which Pop finds the new one
/// and moves the item: a burst therefore costs one move per quiet time, not one per add.
template <Item T>
class CoalesceWindows {
 public:
  explicit CoalesceWindows(const Coalesce& options) : options_(options) {}

  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// Adds `item` at the time `now`. The highest priority applies. Returns true if next() has become
  /// earlier.
  bool Add(const T& item, std::uint32_t hash, TimePoint now, int priority,
           std::unique_ptr<Note> note) {
    if (heap_.size() == heap_.capacity()) heap_.reserve(std::max<std::size_t>(16, 2 * size()));
    const auto [handle, is_new] = table_.Insert(item, hash);
    Window& window = table_[handle];
    notes_.Add(handle, std::move(note));
    if (is_new) window = {options_.LatestEnd(now), {}, priority};
    window.end = std::min(After(now, options_.quiet), window.latest_end);
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

  /// Removes and returns an item whose wait has ended; nullopt if there is none. Sets `note`.
  [[nodiscard]] std::optional<Prioritized<T>> Pop(TimePoint now, std::unique_ptr<Note>& note) {
    while (next() <= now) {
      std::ranges::pop_heap(heap_, Later{});
      Node& last = heap_.back();
      const Handle handle = last.handle;
      if (table_[handle].end > now) {
        last.look_at = table_[handle].end;
        std::ranges::push_heap(heap_, Later{});
        continue;
      }
      note = notes_.Take(handle);
      Prioritized<T> item{table_.MoveOut(handle), table_[handle].priority};
      heap_.pop_back();
      table_.Erase(handle);
      if (heap_.empty()) Clear();
      return item;
    }
    return std::nullopt;
  }

  void Clear() {
    table_.Clear();
    notes_.Clear();
    ClearAndShrink(heap_);
  }

  /// Calls visit(item, end, priority, copy of its note) for each item, in no particular order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [look_at, handle] : heap_) {
      const Window& window = table_[handle];
      visit(table_.ItemOf(handle), window.end, window.priority, notes_.Copy(handle));
    }
  }

 private:
  struct Window {
    TimePoint latest_end{};
    TimePoint end{};
    int priority = 0;
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
  ItemNotes notes_;
  std::vector<Node> heap_;  // one node per item, the earliest first
};

}  // namespace kopp::workqueue::detail
