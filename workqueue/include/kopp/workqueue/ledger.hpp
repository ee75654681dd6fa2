#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item_table.hpp>
#include <kopp/workqueue/lanes.hpp>
#include <kopp/workqueue/snapshot.hpp>
#include <kopp/workqueue/stopwatches.hpp>

namespace kopp::workqueue {

/// Which items are wanted, which are in hand, and which is next: the rules of a queue, without its
/// threads. An item is wanted from an Add to its Take, in hand from then to its Done, and ready
/// while it is wanted and not in hand. Not safe to use from two threads at once.
template <Item T>
class Ledger {
 public:
  /// `by_priority`: items have places; else first come, first served. `track_times`: the `now` of
  /// the members means something.
  Ledger(bool by_priority, bool track_times) {
    if (by_priority) lanes_.emplace();
    if (track_times) watches_.emplace();
  }

  [[nodiscard]] static std::uint32_t Hash(const T& item, const void* owner) {
    return Table::Hash(item, owner);
  }

  /// What an Add changed.
  struct Added {
    bool wanted = false;            ///< it was not before
    bool ready = false;             ///< it was not before
    std::optional<int> lower = {};  ///< the priority that it was ready with, now raised
  };
  /// `hash` is Hash(item, …). `place` is null exactly without priorities.
  template <typename U>
  Added Add(U&& item, std::uint32_t hash, const Place* place, TimePoint now);

  struct Taken {
    Prioritized<T> handed;
    Duration waited{};  ///< since the Add that made it wanted
  };
  /// Hands out what is next. Requires: ready() > 0.
  [[nodiscard]] Taken Take(TimePoint now);

  struct Finished {
    bool stray = false;  ///< the item was not in hand: nothing changed
    bool ready = false;  ///< it was added meanwhile, and is ready again
    int priority = 0;    ///< with which it is ready again
    Duration worked{};   ///< since its Take
  };
  Finished Done(const T& item, std::uint32_t hash, TimePoint now);

  [[nodiscard]] std::size_t ready() const { return ready_; }
  [[nodiscard]] bool idle() const { return ready_ == 0 && in_hand_ == 0; }
  [[nodiscard]] const Stopwatches& watches() const { return *watches_; }
  /// The priority that `item` was handed out with, where it is in hand; else 0.
  [[nodiscard]] int PriorityInHand(const T& item, std::uint32_t hash) const;
  /// Puts what is ready and in hand into `snapshot`, up to `limit` of each.
  void Describe(Snapshot<T>& snapshot, std::size_t limit) const;

 private:
  struct Entry {
    Handle behind : 30 = kNoHandle;  // in the line
    Handle wanted : 1 = 0;
    Handle in_hand : 1 = 0;
  };
  using Table = ItemTable<T, Entry>;

  void PushBack(Handle handle);
  void PopFront();
  void StartAnew() {
    if (lanes_) lanes_->StartAnew();
    if (watches_) watches_->StartAnew();
  }

  Table table_;               // what is wanted or in hand: one look-up an operation
  Handle front_ = kNoHandle;  // the line of what is ready, oldest first,
  Handle back_ = kNoHandle;
  std::optional<Lanes> lanes_;  // or this in its stead
  std::optional<Stopwatches> watches_;
  std::size_t ready_ = 0;
  std::size_t in_hand_ = 0;
  std::uint64_t stray_dones_ = 0;
};

template <Item T>
template <typename U>
auto Ledger<T>::Add(U&& item, std::uint32_t hash, const Place* place, TimePoint now) -> Added {
  const Handle handle = table_.Insert(std::forward<U>(item), hash).first;
  Entry& entry = table_[handle];
  const bool known = entry.wanted;
  if (known && !lanes_) return {};
  entry.wanted = 1;
  if (!known && watches_) watches_->Wanted(handle, now);
  if (entry.in_hand) {  // Done makes it ready
    if (lanes_) lanes_->Hold(handle, *place);
    return {.wanted = !known};
  }
  if (known) return {.lower = lanes_->Raise(handle, *place)};
  ++ready_;
  if (lanes_) {
    lanes_->Push(handle, *place);
  } else {
    PushBack(handle);
  }
  return {.wanted = true, .ready = true};
}

template <Item T>
auto Ledger<T>::Take(TimePoint now) -> Taken {
  const Handle handle = lanes_ ? lanes_->Front() : front_;
  Taken taken{{table_.ItemOf(handle), lanes_ ? lanes_->PriorityOf(handle) : 0}};  // may throw
  if (lanes_) {
    lanes_->PopFront();
  } else {
    PopFront();
  }
  --ready_;
  ++in_hand_;
  table_[handle].wanted = 0;
  table_[handle].in_hand = 1;
  if (watches_) taken.waited = watches_->Begin(handle, now);
  return taken;
}

template <Item T>
auto Ledger<T>::Done(const T& item, std::uint32_t hash, TimePoint now) -> Finished {
  const Handle handle = table_.Find(item, hash);
  if (handle == kNoHandle || !table_[handle].in_hand) {
    ++stray_dones_;
    return {.stray = true};
  }
  Finished finished;
  Entry& entry = table_[handle];
  entry.in_hand = 0;
  --in_hand_;
  if (watches_) finished.worked = watches_->End(handle, now);
  if (!entry.wanted) {
    table_.Erase(handle);
    if (table_.size() == 0) StartAnew();
    return finished;
  }
  ++ready_;
  finished.ready = true;
  if (lanes_) {
    lanes_->PushHeld(handle);
    finished.priority = lanes_->PriorityOf(handle);
  } else {
    PushBack(handle);
  }
  return finished;
}

template <Item T>
int Ledger<T>::PriorityInHand(const T& item, std::uint32_t hash) const {
  const Handle handle = table_.Find(item, hash);
  const bool in_hand = handle != kNoHandle && table_[handle].in_hand;
  return in_hand && lanes_ ? lanes_->PriorityOf(handle) : 0;
}

template <Item T>
void Ledger<T>::Describe(Snapshot<T>& snapshot, std::size_t limit) const {
  const auto describe = [&](Handle handle, bool in_hand) -> typename Snapshot<T>::Entry {
    typename Snapshot<T>::Entry entry{table_.ItemOf(handle)};
    if (lanes_) entry.priority = lanes_->PriorityOf(handle);
    if (watches_) {
      entry.at = in_hand ? watches_->InHandSince(handle) : watches_->WantedSince(handle);
    }
    entry.wanted_again = in_hand && table_[handle].wanted;
    return entry;
  };
  const auto add_ready = [&](Handle handle) {
    if (snapshot.ready.size() == limit) return false;
    snapshot.ready.push_back(describe(handle, false));
    return true;
  };
  if (lanes_) {
    lanes_->ForEach(add_ready);
  } else {
    for (Handle at = front_; at != kNoHandle && add_ready(at);) at = table_[at].behind;
  }
  table_.ForEach([&](Handle handle) {
    if (snapshot.in_hand.size() == std::min(limit, in_hand_)) return false;
    if (table_[handle].in_hand) snapshot.in_hand.push_back(describe(handle, true));
    return true;
  });
  snapshot.ready_count = ready_;
  snapshot.in_hand_count = in_hand_;
  snapshot.stray_dones = stray_dones_;
}

template <Item T>
void Ledger<T>::PushBack(Handle handle) {
  table_[handle].behind = kNoHandle;
  if (back_ == kNoHandle) {
    front_ = handle;
  } else {
    table_[back_].behind = handle & kNoHandle;  // 30 bits: so -Wconversion knows it too
  }
  back_ = handle;
}

template <Item T>
void Ledger<T>::PopFront() {
  front_ = table_[front_].behind;
  if (front_ == kNoHandle) {
    back_ = kNoHandle;
  } else {
    table_.ExpectNode(front_);  // for its Done
  }
}

}  // namespace kopp::workqueue
