#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/fifo_list.hpp>
#include <kopp/workqueue/detail/item_notes.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/detail/item_times.hpp>
#include <kopp/workqueue/detail/priority_lists.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::workqueue::detail {

/// The single-threaded part of a queue. It uses the terms of client-go: an item is dirty from an
/// Add to its Get, in processing from its Get to its Done, and ready while it is dirty and not in
/// processing. Not thread-safe.
template <Item T>
class QueueState {
 public:
  /// Without `by_priority` the order is first in, first out, and ranks have no effect. Without
  /// `track_times` the argument `now` has no effect, and all times are zero.
  QueueState(bool by_priority, bool track_times) : times_(track_times) {
    if (by_priority) {
      ready_list_ = std::make_unique<PriorityLists>();
    } else {
      ready_list_ = std::make_unique<FifoList<Table>>(table_);
    }
  }

  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  struct AddResult {
    bool became_dirty = false;
    bool became_ready = false;
    bool became_superseded = false;       ///< see Queue::IsSuperseded
    std::optional<int> raised_from = {};  ///< the previous priority, if this Add raised it
  };
  /// Adds `item` with `rank`, and moves `*note` to its notes if `note` is set. `hash` must be
  /// Hash(item, …). Moves from `item` only if the queue did not have it. An item in processing
  /// becomes superseded if `supersedes`.
  template <typename U>
  AddResult Add(U&& item, std::uint32_t hash, const Rank& rank, TimePoint now,
                std::unique_ptr<Note>* note, bool supersedes);

  struct GetResult {
    Prioritized<T> next;
    Duration waited{};                ///< the time since the Add that made the item dirty
    std::unique_ptr<Note> note = {};  ///< of its Adds; null: none
  };
  /// Returns the next item and marks it as being processed. If copying the item throws, nothing
  /// changes. Requires: ready() > 0.
  [[nodiscard]] GetResult Get(TimePoint now);

  struct DoneResult {
    bool was_processing = false;  ///< if false, nothing changed
    bool became_ready = false;    ///< the item was added while it was in processing
    int priority = 0;             ///< the priority of the item, set if it became ready
    Duration worked{};            ///< the time since its Get
  };
  /// Marks `item` as processed. `hash` must be Hash(item, …).
  DoneResult Done(const T& item, std::uint32_t hash, TimePoint now);

  [[nodiscard]] std::size_t ready() const { return ready_; }
  [[nodiscard]] bool idle() const { return ready_ == 0 && processing_ == 0; }
  [[nodiscard]] const ItemTimes& times() const { return times_; }
  /// See Queue::IsSuperseded.
  [[nodiscard]] bool IsSuperseded(const T& item, std::uint32_t hash) const {
    const Handle handle = FindProcessing(item, hash);
    return handle != kNoHandle && table_[handle].superseded;
  }
  /// Returns the priority with which Get returned an item in processing; 0 for any other item.
  [[nodiscard]] int PriorityInProcessing(const T& item, std::uint32_t hash) const;
  /// Copies up to `limit` ready items and up to `limit` items in processing into `snapshot`.
  void FillSnapshot(Snapshot<T>& snapshot, std::size_t limit) const;

 private:
  struct Entry {
    Handle next : 29 = kNoHandle;  // used by FifoList
    Handle dirty : 1 = 0;
    Handle processing : 1 = 0;
    Handle superseded : 1 = 0;  // implies dirty and processing
  };
  using Table = ItemTable<T, Entry>;

  /// Returns the item's handle if it is in processing, otherwise kNoHandle.
  [[nodiscard]] Handle FindProcessing(const T& item, std::uint32_t hash) const {
    const Handle handle = table_.Find(item, hash);
    return handle != kNoHandle && table_[handle].processing ? handle : kNoHandle;
  }

  Table table_;  // all items that are dirty or in processing
  std::unique_ptr<ReadyList> ready_list_;
  ItemTimes times_;
  ItemNotes notes_;
  std::size_t ready_ = 0;
  std::size_t processing_ = 0;
  std::uint64_t stray_dones_ = 0;
};

template <Item T>
template <typename U>
auto QueueState<T>::Add(U&& item, std::uint32_t hash, const Rank& rank, TimePoint now,
                        std::unique_ptr<Note>* note, bool supersedes) -> AddResult {
  const Handle handle = table_.Insert(std::forward<U>(item), hash).first;
  if (note != nullptr) notes_.Add(handle, std::move(*note));
  Entry& entry = table_[handle];
  const bool was_dirty = entry.dirty;
  entry.dirty = 1;
  if (!was_dirty) times_.RecordAdd(handle, now);
  if (entry.processing) {  // Done will make it ready
    ready_list_->Defer(handle, rank);
    const bool became_superseded = supersedes && !entry.superseded;
    if (supersedes) entry.superseded = 1;
    return {.became_dirty = !was_dirty, .became_superseded = became_superseded};
  }
  if (was_dirty) return {.raised_from = ready_list_->Raise(handle, rank)};
  ready_list_->Push(handle, rank);
  ++ready_;
  return {.became_dirty = true, .became_ready = true};
}

template <Item T>
auto QueueState<T>::Get(TimePoint now) -> GetResult {
  const Handle handle = ready_list_->Front();
  GetResult result{{table_.ItemOf(handle), ready_list_->PriorityOf(handle)}};  // may throw
  ready_list_->PopFront();
  --ready_;
  ++processing_;
  table_[handle].dirty = 0;
  table_[handle].processing = 1;
  result.waited = times_.RecordStart(handle, now);
  result.note = notes_.Take(handle);
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
  entry.superseded = 0;
  --processing_;
  DoneResult result{.was_processing = true, .worked = times_.RecordFinish(handle, now)};
  if (entry.dirty) {
    ready_list_->PushDeferred(handle);
    ++ready_;
    result.became_ready = true;
    result.priority = ready_list_->PriorityOf(handle);
    return result;
  }
  table_.Erase(handle);
  if (table_.size() == 0) {
    ready_list_->ReleaseMemory();
    times_.ReleaseMemory();
    notes_.Clear();
  }
  return result;
}

template <Item T>
int QueueState<T>::PriorityInProcessing(const T& item, std::uint32_t hash) const {
  const Handle handle = FindProcessing(item, hash);
  return handle == kNoHandle ? 0 : ready_list_->PriorityOf(handle);
}

template <Item T>
void QueueState<T>::FillSnapshot(Snapshot<T>& snapshot, std::size_t limit) const {
  ready_list_->ForEach([&](Handle handle) {
    if (snapshot.ready.size() == limit) return false;
    snapshot.ready.push_back({.item = table_.ItemOf(handle),
                              .priority = ready_list_->PriorityOf(handle),
                              .at = times_.AddedAt(handle),
                              .note = notes_.Copy(handle)});
    return true;
  });
  table_.ForEach([&](Handle handle) {
    if (snapshot.processing.size() == std::min(limit, processing_)) return false;
    if (!table_[handle].processing) return true;
    snapshot.processing.push_back({.item = table_.ItemOf(handle),
                                   .priority = ready_list_->PriorityOf(handle),
                                   .at = times_.StartedAt(handle),
                                   .dirty = table_[handle].dirty == 1,
                                   .note = notes_.Copy(handle)});
    return true;
  });
  snapshot.ready_count = ready_;
  snapshot.processing_count = processing_;
  snapshot.stray_dones = stray_dones_;
}

}  // namespace kopp::workqueue::detail
