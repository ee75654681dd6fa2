#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::workqueue::detail {

/// The priority and the tenant of an item. They determine its position among the ready items.
struct Rank {
  int priority = 0;
  std::string tenant = {};
  int weight = 1;  ///< the number of consecutive items in the tenant's turn
};

/// The ready items of a queue, the highest priority first. Within a priority, tenants take turns
/// (weighted round robin).
///
/// A key that is added again and again with a high priority must not starve the others. So after
/// nine items in a row that were returned before ready items of lower priorities, the next item has
/// a lower priority. The lower priorities take turns.
///
/// Each tenant that has ready items of a priority has one list of them, oldest first. The lists of
/// a priority form a ring: the front list is served, and moves to the back after `weight` items.
/// Empty lists and empty priorities are removed, so names of former tenants use no memory.
///
/// Items are identified by their handles. Not thread-safe. Running out of memory in a noexcept
/// function terminates the process, because otherwise the queue would lose an item.
class PriorityLists {
 public:
  /// Adds an item.
  void Push(Handle handle, const Rank& rank) noexcept;

  /// Updates a ready item that was added again. If `rank` has a higher priority, moves the item to
  /// the end of that priority and returns the previous priority; otherwise returns nullopt.
  std::optional<int> Raise(Handle handle, const Rank& rank) noexcept {
    const int priority = PriorityOf(handle);
    if (rank.priority <= priority) return std::nullopt;
    Remove(handle);
    Push(handle, rank);
    return priority;
  }

  /// Stores `rank` for an item that was added while it is being processed. If it is called again
  /// before PushDeferred, the rank with the higher priority is kept.
  void Defer(Handle handle, const Rank& rank) noexcept {
    const auto [deferred, is_new] = deferred_.try_emplace(handle, rank);
    if (!is_new && rank.priority > deferred->second.priority) deferred->second = rank;
  }
  /// Adds an item with the rank that Defer stored.
  void PushDeferred(Handle handle) noexcept {
    Push(handle, deferred_.extract(handle).mapped());
  }

  /// Returns the next item. Requires: an item is ready.
  [[nodiscard]] Handle Front() const { return NextRing()->second.lists.front().front; }
  /// Removes the next item. Requires: an item is ready.
  void PopFront() noexcept;

  /// Returns the priority of a ready item. For an item in processing, returns its priority at
  /// PopFront.
  [[nodiscard]] int PriorityOf(Handle handle) const { return links_[handle].priority; }

  /// Calls visit(handle) for each ready item, by priority, then by tenant, then oldest first, until
  /// `visit` returns false. If there are several tenants or priorities, Get uses another order,
  /// because they take turns.
  void ForEach(const std::function<bool(Handle)>& visit) const;

  /// Frees memory if its capacity is large. Requires: no item is ready, deferred or being
  /// processed.
  void ReleaseMemory() { ClearAndShrink(links_); }

 private:
  struct TenantList {
    std::string tenant = {};
    int weight = 1;
    int served = 0;  // the number of items popped in the current turn
    Handle front = kNoHandle;
    Handle back = kNoHandle;
  };
  struct Ring {
    std::list<TenantList> lists;
    // The keys refer to TenantList::tenant.
    std::unordered_map<std::string_view, std::list<TenantList>::iterator> by_tenant;
  };
  struct Link {
    Handle previous = kNoHandle;
    Handle next = kNoHandle;
    int priority = 0;
    TenantList* list = nullptr;
  };

  using Rings = std::map<int, Ring, std::greater<>>;  // indexed by priority

  static constexpr int kMaxPassedOver = 9;

  /// Returns the ring of the next item. Requires: an item is ready.
  [[nodiscard]] Rings::const_iterator NextRing() const;
  void Remove(Handle handle) noexcept;

  Rings rings_;
  // The number of consecutive items that were returned before ready items of lower priorities.
  int passed_over_ = 0;
  int last_lower_priority_ = 0;  // the last one that had its turn
  std::vector<Link> links_;      // indexed by handle
  std::unordered_map<Handle, Rank> deferred_;
};

inline void PriorityLists::Push(Handle handle, const Rank& rank) noexcept {
  if (links_.size() <= handle) links_.resize(handle + std::size_t{1});
  Ring& ring = rings_[rank.priority];
  auto entry = ring.by_tenant.find(rank.tenant);
  if (entry == ring.by_tenant.end()) {
    const auto list = ring.lists.insert(ring.lists.end(), TenantList{.tenant = rank.tenant});
    entry = ring.by_tenant.emplace(list->tenant, list).first;
  }
  TenantList& list = *entry->second;
  list.weight = std::max(rank.weight, 1);
  links_[handle] = {.previous = list.back, .priority = rank.priority, .list = &list};
  (list.back == kNoHandle ? list.front : links_[list.back].next) = handle;
  list.back = handle;
}

inline PriorityLists::Rings::const_iterator PriorityLists::NextRing() const {
  const auto highest = rings_.begin();
  if (passed_over_ < kMaxPassedOver || rings_.size() == 1) return highest;
  const auto lower = rings_.upper_bound(std::min(last_lower_priority_, highest->first));
  return lower == rings_.end() ? std::next(highest) : lower;
}

inline void PriorityLists::PopFront() noexcept {
  const int priority = NextRing()->first;
  if (priority != rings_.begin()->first) {
    passed_over_ = 0;
    last_lower_priority_ = priority;
  } else {
    passed_over_ = rings_.size() == 1 ? 0 : passed_over_ + 1;
  }
  auto& lists = rings_.find(priority)->second.lists;
  TenantList& list = lists.front();
  const Handle handle = list.front;
  if (++list.served >= list.weight) {
    list.served = 0;
    lists.splice(lists.end(), lists, lists.begin());
  }
  Remove(handle);
}

inline void PriorityLists::ForEach(const std::function<bool(Handle)>& visit) const {
  for (const auto& [priority, ring] : rings_) {
    for (const TenantList& list : ring.lists) {
      for (Handle handle = list.front; handle != kNoHandle; handle = links_[handle].next) {
        if (!visit(handle)) return;
      }
    }
  }
}

inline void PriorityLists::Remove(Handle handle) noexcept {
  const Link& link = links_[handle];
  TenantList& list = *link.list;
  (link.previous == kNoHandle ? list.front : links_[link.previous].next) = link.next;
  (link.next == kNoHandle ? list.back : links_[link.next].previous) = link.previous;
  if (list.front != kNoHandle) return;
  const auto ring = rings_.find(link.priority);
  const auto entry = ring->second.by_tenant.find(list.tenant);
  const auto empty_list = entry->second;
  ring->second.by_tenant.erase(entry);  // before the list, because its key refers to the list
  ring->second.lists.erase(empty_list);
  if (ring->second.lists.empty()) rings_.erase(ring);
}

}  // namespace kopp::workqueue::detail
