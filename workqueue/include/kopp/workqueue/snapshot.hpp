#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue {

/// A copy of the contents of a queue at one time: for debug pages, liveness checks and tests.
template <typename T>
struct Snapshot {
  struct Entry {
    T item;
    int priority = 0;
    int failures = 0;  ///< NumRequeues of the rate limiter
    /// For a ready item: when it was added. For an item in processing: when Get returned it. Both
    /// are nullopt unless the queue tracks times. For a waiting item: when it becomes ready.
    std::optional<TimePoint> at = {};
    bool dirty = false;  ///< an item in processing that was added again; Done makes it ready
  };

  std::vector<Entry> ready = {};       ///< by priority, then by tenant, then the oldest first
  std::vector<Entry> waiting = {};     ///< for their delays; the earliest first
  std::vector<Entry> processing = {};  ///< in no particular order
  std::size_t ready_count = 0;         ///< the counts include items beyond the limit
  std::size_t waiting_count = 0;
  std::size_t processing_count = 0;
  std::uint64_t stray_dones = 0;  ///< calls of Done so far for items that were not in processing
  bool shutting_down = false;
};

}  // namespace kopp::workqueue
