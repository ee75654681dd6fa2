#pragma once

#include <cstddef>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item_table.hpp>

namespace kopp::workqueue {

/// Since when items are wanted and in hand: for metrics and snapshots. Knows items by their
/// handles. Not safe to use from two threads at once. Out of memory ends the process here.
class Stopwatches {
 public:
  void Wanted(Handle handle, TimePoint now) noexcept {
    if (watches_.size() <= handle) watches_.resize(handle + std::size_t{1});
    watches_[handle].wanted = now;
  }

  /// In hand from now on. Returns how long it was wanted.
  Duration Begin(Handle handle, TimePoint now) noexcept {
    Watch& watch = watches_[handle];
    watch.in_hand = now;
    watch.before = last_;
    watch.behind = kNoHandle;
    (last_ == kNoHandle ? first_ : watches_[last_].behind) = handle;
    last_ = handle;
    return now - watch.wanted;
  }

  /// No longer in hand. Returns how long it was.
  Duration End(Handle handle, TimePoint now) noexcept {
    const Watch& watch = watches_[handle];
    (watch.before == kNoHandle ? first_ : watches_[watch.before].behind) = watch.behind;
    (watch.behind == kNoHandle ? last_ : watches_[watch.behind].before) = watch.before;
    return now - watch.in_hand;
  }

  /// Gives memory back. Requires: no item is wanted or in hand.
  void StartAnew() { GiveBack(watches_); }

  [[nodiscard]] TimePoint WantedSince(Handle handle) const { return watches_[handle].wanted; }
  [[nodiscard]] TimePoint InHandSince(Handle handle) const { return watches_[handle].in_hand; }

  /// How long all that are in hand have been there, summed, in seconds.
  [[nodiscard]] double Unfinished(TimePoint now) const {
    double sum = 0;
    for (Handle at = first_; at != kNoHandle; at = watches_[at].behind) {
      sum += std::chrono::duration<double>(now - watches_[at].in_hand).count();
    }
    return sum;
  }

  /// How long the one that is in hand for longest has been there, in seconds; 0 without any.
  [[nodiscard]] double Longest(TimePoint now) const {
    if (first_ == kNoHandle) return 0;
    return std::chrono::duration<double>(now - watches_[first_].in_hand).count();
  }

 private:
  struct Watch {
    TimePoint wanted{};
    TimePoint in_hand{};
    Handle before = kNoHandle;  // in the list of those in hand
    Handle behind = kNoHandle;
  };
  std::vector<Watch> watches_;  // by handle
  Handle first_ = kNoHandle;    // in hand for longest
  Handle last_ = kNoHandle;
};

}  // namespace kopp::workqueue
