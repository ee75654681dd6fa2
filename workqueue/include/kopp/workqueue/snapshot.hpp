#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue {

/// What a queue holds at one moment: for debug pages, liveness checks and tests. A copy.
template <typename T>
struct Snapshot {
  struct Entry {
    T item;
    int priority = 0;
    int failures = 0;  ///< that the limiter remembers
    /// Of what is ready: when it was added. Of what is in hand: when it was handed out. Nothing
    /// unless the queue tracks times. Of what waits: when it will be ready.
    std::optional<TimePoint> at = {};
    bool wanted_again = false;  ///< of what is in hand: added meanwhile
  };

  std::vector<Entry> ready = {};    ///< by priority, then by tenant, each tenant's oldest first
  std::vector<Entry> waiting = {};  ///< the earliest first
  std::vector<Entry> in_hand = {};
  std::size_t ready_count = 0;  ///< these three count those beyond the snapshot's limit too
  std::size_t waiting_count = 0;
  std::size_t in_hand_count = 0;
  std::uint64_t stray_dones = 0;  ///< calls of Done for an item that was not in hand, ever
  bool shutting_down = false;
};

}  // namespace kopp::workqueue
