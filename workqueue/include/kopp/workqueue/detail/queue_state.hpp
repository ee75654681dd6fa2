#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/fifo_order.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/detail/item_times.hpp>
#include <kopp/workqueue/detail/priority_lists.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::workqueue::detail {

/// The rules of a queue without its threads, in client-go's terms: an item is dirty from an Add to
/// its Get, in processing from its Get to its Done, and ready while it is dirty and not in
/// processing. Not thread-safe.
template <Item T>
class QueueState {
 public:
  /// Without `by_priority` the order is first in, first out, and ranks have no effect. Without
  /// `track_times` the argument `now` has no effect, and all times are zero.
  QueueState(bool by_priority, bool track_times) : times_(track_times) {
    if (by_priority) {
      order_ = std::make_unique<PriorityLists>();
    } else {
      order_ = std::make_unique<FifoOrder<Table>>(table_);
    }
  }

  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  struct AddResult {
    bool became_dirty = false;
    bool became_ready = false;
    std::optional<int> raised_from = {};  ///< the previous priority, if this Add raised it
  };
  /// `hash` is Hash(item, …).
  template <typename U>
  AddResult Add(U&& item, std::uint32_t hash, const Rank& rank, TimePoint now);

  struct GetResult {
    Prioritized<T> next;
    Duration waited{};  ///< since the Add that made the item dirty
  };
  /// Starts to process the next item. Requires: ready() > 0. If the copy of the item throws,
  /// nothing changes.
  [[nodiscard]] GetResult Get(TimePoint now);

  struct DoneResult {
    bool was_processing = false;  ///< if false, nothing changed
    bool became_ready = false;    ///< the item was added while it was in processing
    int priority = 0;             ///< if it became ready
    Duration worked{};            ///< since its Get
  };
  DoneResult Done(const T& item, std::uint32_t hash, TimePoint now);

  [[nodiscard]] std::size_t ready() const { return ready_; }
  [[nodiscard]] bool idle() const { return ready_ == 0 && processing_ == 0; }
  [[nodiscard]] const ItemTimes& times() const { return times_; }
  /// The priority that an item in processing was returned with; 0 for any other item.
  [[nodiscard]] int PriorityInProcessing(const T& item, std::uint32_t hash) const;
  /// Copies up to `limit` ready items and up to `limit` items in processing into `snapshot`.
  void FillSnapshot(Snapshot<T>& snapshot, std::size_t limit) const;

 private:
  struct Entry {
    Handle next : 30 = kNoHandle;  // used by FifoOrder
    Handle dirty : 1 = 0;
    Handle processing : 1 = 0;
  };
  using Table = ItemTable<T, Entry>;

  /// The item's handle if it is in processing, else kNoHandle.
  [[nodiscard]] Handle FindProcessing(const T& item, std::uint32_t hash) const {
    const Handle handle = table_.Find(item, hash);
    return handle != kNoHandle && table_[handle].processing ? handle : kNoHandle;
  }

  Table table_;  // all items that are dirty or in processing
  std::unique_ptr<ReadyOrder> order_;
  ItemTimes times_;
  std::size_t ready_ = 0;
  std::size_t processing_ = 0;
  std::uint64_t stray_dones_ = 0;
};

template <Item T>
template <typename U>
auto QueueState<T>::Add(U&& item, std::uint32_t hash, const Rank& rank, TimePoint now)
    -> AddResult {
  const Handle handle = table_.Insert(std::forward<U>(item), hash).first;
  Entry& entry = table_[handle];
  const bool was_dirty = entry.dirty;
  entry.dirty = 1;
  if (!was_dirty) times_.Added(handle, now);
  if (entry.processing) {  // Done will make it ready
    order_->Defer(handle, rank);
    return {.became_dirty = !was_dirty};
  }
  if (was_dirty) return {.raised_from = order_->Raise(handle, rank)};
  order_->Push(handle, rank);
  ++ready_;
  return {.became_dirty = true, .became_ready = true};
}

template <Item T>
auto QueueState<T>::Get(TimePoint now) -> GetResult {
  const Handle handle = order_->Front();
  GetResult result{{table_.ItemOf(handle), order_->PriorityOf(handle)}};  // may throw
  order_->PopFront();
  --ready_;
  ++processing_;
  table_[handle].dirty = 0;
  table_[handle].processing = 1;
  result.waited = times_.Started(handle, now);
  return result;
}

template <Item T>
auto QueueState<T>::Done(const T& item, std::uint32_t hash, TimePoint now) -> DoneResult {
  const Handle handle = FindProcessing(item, hash);
  if (handle == kNoHandle) {
    ++stray_dones_;
    return {};
  }
  Entry& entry = table_[handle];
  entry.processing = 0;
  --processing_;
  DoneResult result{.was_processing = true, .worked = times_.Finished(handle, now)};
  if (entry.dirty) {
    order_->PushDeferred(handle);
    ++ready_;
    result.became_ready = true;
    result.priority = order_->PriorityOf(handle);
    return result;
  }
  table_.Erase(handle);
  if (table_.size() == 0) {
    order_->ReleaseMemory();
    times_.ReleaseMemory();
  }
  return result;
}

template <Item T>
int QueueState<T>::PriorityInProcessing(const T& item, std::uint32_t hash) const {
  const Handle handle = FindProcessing(item, hash);
  return handle == kNoHandle ? 0 : order_->PriorityOf(handle);
}

template <Item T>
void QueueState<T>::FillSnapshot(Snapshot<T>& snapshot, std::size_t limit) const {
  order_->ForEach([&](Handle handle) {
    if (snapshot.ready.size() == limit) return false;
    snapshot.ready.push_back({.item = table_.ItemOf(handle),
                              .priority = order_->PriorityOf(handle),
                              .at = times_.AddedAt(handle)});
    return true;
  });
  table_.ForEach([&](Handle handle) {
    if (snapshot.processing.size() == std::min(limit, processing_)) return false;
    if (!table_[handle].processing) return true;
    snapshot.processing.push_back({.item = table_.ItemOf(handle),
                                   .priority = order_->PriorityOf(handle),
                                   .at = times_.StartedAt(handle),
                                   .dirty = table_[handle].dirty == 1});
    return true;
  });
  snapshot.ready_count = ready_;
  snapshot.processing_count = processing_;
  snapshot.stray_dones = stray_dones_;
}

}  // namespace kopp::workqueue::detail
