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
#include <utility>
#include <vector>

#include <kopp/workqueue/item_table.hpp>

namespace kopp::workqueue {

/// What an item is ordered by.
struct Place {
  int priority = 0;
  std::string tenant = {};
  int weight = 1;  ///< of the tenant
};

/// Ready items by priority, and within a priority by tenants that take turns: the order of queues
/// that are not simply first come, first served. Knows items by their handles. Not safe to use from
/// two threads at once. Out of memory ends the process here: an item would be lost.
///
/// A lane holds the ready items of one tenant in one priority, oldest first. A level is the ring of
/// the lanes of one priority: the one whose turn it is stands in front, and goes to the back when
/// its turn is over. Empty lanes and levels are gone: names of tenants take no memory for ever.
class Lanes {
 public:
  /// Makes `handle` ready, behind its tenant's others in its priority.
  void Push(Handle handle, const Place& place) noexcept;

  /// `handle` is ready, and is added again. A higher priority makes it go to the end there; the
  /// answer is the lower one then.
  std::optional<int> Raise(Handle handle, const Place& place) noexcept {
    const int priority = PriorityOf(handle);
    if (place.priority <= priority) return std::nullopt;
    Remove(handle);
    Push(handle, place);
    return priority;
  }

  /// `handle` is added while it is in hand: the highest such place is its own when PushHeld makes
  /// it ready, once it is done.
  void Hold(Handle handle, const Place& place) noexcept {
    const auto [held, is_new] = held_.try_emplace(handle, place);
    if (!is_new && place.priority > held->second.priority) held->second = place;
  }
  void PushHeld(Handle handle) noexcept { Push(handle, held_.extract(handle).mapped()); }

  /// The item whose turn it is. Requires: one is ready.
  [[nodiscard]] Handle Front() const { return levels_.begin()->second.ring.front().front; }
  /// Makes Front not ready.
  void PopFront() noexcept;

  /// Of an item that is ready, or in hand: then the priority that it was handed out with.
  [[nodiscard]] int PriorityOf(Handle handle) const { return links_[handle].priority; }

  /// Calls visit(handle) for each that is ready, by priority, then tenant by tenant, until it
  /// answers false.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [priority, level] : levels_) {
      for (const Lane& lane : level.ring) {
        for (Handle at = lane.front; at != kNoHandle; at = links_[at].behind) {
          if (!visit(at)) return;
        }
      }
    }
  }

  /// Gives memory back. Requires: no item is ready, held or in hand.
  void StartAnew() { GiveBack(links_); }

 private:
  struct Lane {
    std::string tenant = {};
    int weight = 1;
    int served = 0;  // in this turn
    Handle front = kNoHandle;
    Handle back = kNoHandle;
  };
  struct Level {
    std::list<Lane> ring;
    std::unordered_map<std::string_view, std::list<Lane>::iterator> by_tenant;  // a lane's own name
  };
  struct Link {
    Handle before = kNoHandle;
    Handle behind = kNoHandle;
    int priority = 0;
    Lane* lane = nullptr;
  };

  void Remove(Handle handle) noexcept;

  std::map<int, Level, std::greater<>> levels_;
  std::vector<Link> links_;                 // by handle
  std::unordered_map<Handle, Place> held_;  // of those wanted while in hand
};

inline void Lanes::Push(Handle handle, const Place& place) noexcept {
  if (links_.size() <= handle) links_.resize(handle + std::size_t{1});
  Level& level = levels_[place.priority];
  auto known = level.by_tenant.find(place.tenant);
  if (known == level.by_tenant.end()) {
    const auto made = level.ring.insert(level.ring.end(), Lane{.tenant = place.tenant});
    known = level.by_tenant.emplace(made->tenant, made).first;
  }
  Lane& lane = *known->second;
  lane.weight = std::max(place.weight, 1);
  links_[handle] = {.before = lane.back, .priority = place.priority, .lane = &lane};
  (lane.back == kNoHandle ? lane.front : links_[lane.back].behind) = handle;
  lane.back = handle;
}

inline void Lanes::PopFront() noexcept {
  auto& ring = levels_.begin()->second.ring;
  Lane& lane = ring.front();
  const Handle handle = lane.front;
  if (++lane.served >= lane.weight) {
    lane.served = 0;
    ring.splice(ring.end(), ring, ring.begin());
  }
  Remove(handle);
}

inline void Lanes::Remove(Handle handle) noexcept {
  const Link& link = links_[handle];
  Lane& lane = *link.lane;
  (link.before == kNoHandle ? lane.front : links_[link.before].behind) = link.behind;
  (link.behind == kNoHandle ? lane.back : links_[link.behind].before) = link.before;
  if (lane.front != kNoHandle) return;
  const auto level = levels_.find(link.priority);
  const auto known = level->second.by_tenant.find(lane.tenant);
  const auto gone = known->second;
  level->second.by_tenant.erase(known);
  level->second.ring.erase(gone);
  if (level->second.ring.empty()) levels_.erase(level);
}

}  // namespace kopp::workqueue
