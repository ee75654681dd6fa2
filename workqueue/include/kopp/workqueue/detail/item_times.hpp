#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::workqueue::detail {

/// Records when each item became dirty and when its processing started, for metrics and snapshots.
/// If it is disabled, it stores nothing, and its functions return zero or nullopt. Items are
/// identified by their handles. Not thread-safe. Running out of memory terminates the process.
class ItemTimes {
 public:
  explicit ItemTimes(bool enabled) : enabled_(enabled) {}

  /// Records that the item became dirty.
  void RecordAdd(Handle handle, TimePoint now) noexcept {
    if (!enabled_) return;
    if (times_.size() <= handle) times_.resize(handle + std::size_t{1});
    times_[handle].added = now;
  }

  /// Records that processing started. Returns how long the item was dirty.
  Duration RecordStart(Handle handle, TimePoint now) noexcept {
    if (!enabled_) return {};
    Times& times = times_[handle];
    times.started = now;
    times.previous = last_;
    times.next = kNoHandle;
    (last_ == kNoHandle ? first_ : times_[last_].next) = handle;
    last_ = handle;
    return now - times.added;
  }

  /// Records that processing finished. Returns how long it took.
  Duration RecordFinish(Handle handle, TimePoint now) noexcept {
    if (!enabled_) return {};
    const Times& times = times_[handle];
    (times.previous == kNoHandle ? first_ : times_[times.previous].next) = times.next;
    (times.next == kNoHandle ? last_ : times_[times.next].previous) = times.previous;
    return now - times.started;
  }

  [[nodiscard]] std::optional<TimePoint> AddedAt(Handle handle) const {
    return enabled_ ? std::optional(times_[handle].added) : std::nullopt;
  }
  [[nodiscard]] std::optional<TimePoint> StartedAt(Handle handle) const {
    return enabled_ ? std::optional(times_[handle].started) : std::nullopt;
  }

  /// The sum over all items in processing of the time since their processing started, in seconds.
  [[nodiscard]] double UnfinishedSeconds(TimePoint now) const {
    double sum = 0;
    for (Handle handle = first_; handle != kNoHandle; handle = times_[handle].next) {
      sum += SecondsInProcessing(handle, now);
    }
    return sum;
  }

  /// The time since the earliest start among the items in processing, in seconds; 0 if there are
  /// none.
  [[nodiscard]] double LongestSeconds(TimePoint now) const {
    return first_ == kNoHandle ? 0 : SecondsInProcessing(first_, now);
  }

  /// Frees memory if its capacity is large. Requires: no item is dirty or being processed.
  void ReleaseMemory() { ClearAndShrink(times_); }

 private:
  struct Times {
    TimePoint added{};
    TimePoint started{};
    // The neighbors in the linked list of items in processing.
    Handle previous = kNoHandle;
    Handle next = kNoHandle;
  };

  [[nodiscard]] double SecondsInProcessing(Handle handle, TimePoint now) const {
    return std::chrono::duration<double>(now - times_[handle].started).count();
  }

  const bool enabled_;
  std::vector<Times> times_;  // indexed by handle
  // The ends of the linked list of items in processing, earliest start first.
  Handle first_ = kNoHandle;
  Handle last_ = kNoHandle;
};

}  // namespace kopp::workqueue::detail
