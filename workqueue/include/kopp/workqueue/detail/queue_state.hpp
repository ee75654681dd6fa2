#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/fifo_list.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/detail/item_times.hpp>
#include <kopp/workqueue/detail/priority_lists.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::workqueue::detail {

/// The single-threaded part of a queue. It uses the terms of client-go: an item is dirty from an
/// Add to its Get, in processing from its Get to its Done, and ready while it is dirty and not in
/// processing. Not thread-safe.
template <Item T, QueuePayload Payload>
class QueueState {
 public:
  /// Without `by_priority` the order is first in, first out. Without `track_times` the argument
  /// `now` has no effect, and all times are zero.
  QueueState(bool by_priority, bool track_times) : times_(track_times) {
    if (by_priority) by_priority_.emplace();
  }

  /// See ItemTable::Hash.
  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// How an Add changed the item. An enumeration, because GCC is slow in returning small structs.
  enum class AddResult : std::uint32_t {
    kBecameReady,   ///< it was not dirty, and is ready now
    kBecameDirty,   ///< it was not dirty, and is in processing: Done will make it ready
    kAlreadyReady,  ///< nothing
    kAlreadyDirty,  ///< nothing; it is in processing
    kRaised,        ///< it was ready with a lower priority
  };
  /// Adds `item`. `hash` must be Hash(item, …). `rank` must be set if the order is by priority.
  /// Moves from `item` only if the queue did not have it. Sets `raised_from` to the previous
  /// priority for kRaised.
  template <typename U>
  AddResult Add(U&& item, std::uint32_t hash, const std::optional<Rank>& rank, TimePoint now,
                Payload&& payload, int& raised_from);

  /// Returns the next item and marks it as being processed. If copying the item throws, nothing
  /// changes. Requires: ready() > 0.
  [[nodiscard]] QueuedItem<T, Payload> Get(TimePoint now);

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
  /// Returns the payload of the Adds of an item since its Get; null if the item is not in
  /// processing or was not added again.
  [[nodiscard]] const Payload* PayloadInProcessing(const T& item, std::uint32_t hash) const {
    const Handle handle = FindProcessing(item, hash);
    return handle != kNoHandle && table_[handle].dirty ? &table_[handle].payload : nullptr;
  }
  /// Returns the priority with which Get returned an item in processing; 0 for any other item.
  [[nodiscard]] int PriorityInProcessing(const T& item, std::uint32_t hash) const {
    const Handle handle = FindProcessing(item, hash);
    return handle == kNoHandle ? 0 : PriorityOf(handle);
  }
  /// Copies up to `limit` ready items and up to `limit` items in processing into `snapshot`.
  void FillSnapshot(Snapshot<T, Payload>& snapshot, std::size_t limit) const;

 private:
  struct Entry {
    Handle next : 30 = kNoHandle;  // used by FifoList
    Handle dirty : 1 = 0;
    Handle processing : 1 = 0;
    [[no_unique_address]] Payload payload{};  // of the Adds since the last Get
  };
  using Table = ItemTable<T, Entry>;

  /// Returns the item's handle if it is in processing, otherwise kNoHandle.
  [[nodiscard]] Handle FindProcessing(const T& item, std::uint32_t hash) const {
    const Handle handle = table_.Find(item, hash);
    return handle != kNoHandle && table_[handle].processing ? handle : kNoHandle;
  }
  [[nodiscard]] int PriorityOf(Handle handle) const {
    return by_priority_ ? by_priority_->PriorityOf(handle) : 0;
  }
  /// Updates the rank of an item that is already dirty.
  AddResult UpdateRank(Handle handle, const Rank& rank, int& raised_from);
  void ReleaseMemory();

  std::size_t ready_ = 0;
  std::size_t processing_ = 0;
  FifoList<Table> fifo_{table_};  // the ready items, unless the order is by priority
  Table table_;                   // all items that are dirty or in processing
  std::optional<PriorityLists> by_priority_;  // the ready items if the order is by priority
  ItemTimes times_;
  std::uint64_t stray_dones_ = 0;
};

template <Item T, QueuePayload Payload>
template <typename U>
auto QueueState<T, Payload>::Add(U&& item, std::uint32_t hash, const std::optional<Rank>& rank,
                                 TimePoint now, Payload&& payload, int& raised_from) -> AddResult {
  const Handle handle = table_.Insert(std::forward<U>(item), hash).first;
  Entry& entry = table_[handle];
  if (entry.dirty) {
    entry.payload.Merge(std::move(payload));
    if (by_priority_) return UpdateRank(handle, *rank, raised_from);
    return entry.processing ? AddResult::kAlreadyDirty : AddResult::kAlreadyReady;
  }
  entry.dirty = 1;
  entry.payload = std::move(payload);
  times_.RecordAdd(handle, now);
  if (entry.processing) {  // Done will make it ready
    if (by_priority_) by_priority_->Defer(handle, *rank);
    return AddResult::kBecameDirty;
  }
  by_priority_ ? by_priority_->Push(handle, *rank) : fifo_.Push(handle);
  ++ready_;
  return AddResult::kBecameReady;
}

template <Item T, QueuePayload Payload>
auto QueueState<T, Payload>::UpdateRank(Handle handle, const Rank& rank, int& raised_from)
    -> AddResult {
  if (table_[handle].processing) {
    by_priority_->Defer(handle, rank);
    return AddResult::kAlreadyDirty;
  }
  const std::optional<int> previous = by_priority_->Raise(handle, rank);
  if (!previous) return AddResult::kAlreadyReady;
  raised_from = *previous;
  return AddResult::kRaised;
}

template <Item T, QueuePayload Payload>
QueuedItem<T, Payload> QueueState<T, Payload>::Get(TimePoint now) {
  const Handle handle = by_priority_ ? by_priority_->Front() : fifo_.Front();
  QueuedItem<T, Payload> next{table_.ItemOf(handle), PriorityOf(handle)};  // may throw
  by_priority_ ? by_priority_->PopFront() : fifo_.PopFront();
  --ready_;
  ++processing_;
  Entry& entry = table_[handle];
  entry.dirty = 0;
  entry.processing = 1;
  next.waited = times_.RecordStart(handle, now);
  next.payload = std::exchange(entry.payload, Payload{});
  return next;
}

template <Item T, QueuePayload Payload>
auto QueueState<T, Payload>::Done(const T& item, std::uint32_t hash, TimePoint now) -> DoneResult {
  const Handle handle = FindProcessing(item, hash);
  if (handle == kNoHandle) {
    ++stray_dones_;
    return {};
  }
  Entry& entry = table_[handle];
  entry.processing = 0;
  --processing_;
  DoneResult result{.was_processing = true, .worked = times_.RecordFinish(handle, now)};
  if (entry.dirty) {
    by_priority_ ? by_priority_->PushDeferred(handle) : fifo_.Push(handle);
    ++ready_;
    result.became_ready = true;
    result.priority = PriorityOf(handle);
    return result;
  }
  table_.Erase(handle);
  if (table_.size() == 0) ReleaseMemory();
  return result;
}

template <Item T, QueuePayload Payload>
void QueueState<T, Payload>::ReleaseMemory() {
  if (by_priority_) by_priority_->ReleaseMemory();
  times_.ReleaseMemory();
}

template <Item T, QueuePayload Payload>
void QueueState<T, Payload>::FillSnapshot(Snapshot<T, Payload>& snapshot, std::size_t limit) const {
  const auto add_ready = [&](Handle handle) {
    if (snapshot.ready.size() == limit) return false;
    snapshot.ready.push_back({.item = table_.ItemOf(handle),
                              .priority = PriorityOf(handle),
                              .at = times_.AddedAt(handle),
                              .payload = table_[handle].payload});
    return true;
  };
  by_priority_ ? by_priority_->ForEach(add_ready) : fifo_.ForEach(add_ready);
  table_.ForEach([&](Handle handle) {
    if (snapshot.processing.size() == std::min(limit, processing_)) return false;
    if (!table_[handle].processing) return true;
    snapshot.processing.push_back({.item = table_.ItemOf(handle),
                                   .priority = PriorityOf(handle),
                                   .at = times_.StartedAt(handle),
                                   .dirty = table_[handle].dirty == 1,
                                   .payload = table_[handle].payload});
    return true;
  });
  snapshot.ready_count = ready_;
  snapshot.processing_count = processing_;
  snapshot.stray_dones = stray_dones_;
}

}  // namespace kopp::workqueue::detail
