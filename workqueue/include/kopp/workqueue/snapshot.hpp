#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/payload.hpp>

namespace kopp::workqueue {

/// A copy of the contents of a queue at one time. Use it for debug pages, liveness checks and
/// tests.
template <typename T, typename Payload = NoPayload>
struct Snapshot {
  struct Entry {
    T item;
    int priority = 0;
    int failures = 0;  ///< NumRequeues of the rate limiter; 0 if the queue has none
    /// The time when a ready item was added, when Get returned an item in processing, or when a
    /// waiting item becomes ready. For ready items and items in processing it is nullopt unless the
    /// queue tracks times.
    std::optional<TimePoint> at = {};
    /// Whether an item in processing was added again. Done then makes it ready.
    bool dirty = false;
    [[no_unique_address]] Payload payload = {};  ///< of the Adds since the last Get
  };

  /// Returns a copy with the payloads `convert(payload)`.
  template <typename F>
  [[nodiscard]] auto WithPayloads(F convert) const {
    using Converted = Snapshot<T, std::invoke_result_t<F&, const Payload&>>;
    const auto copy = [&](const std::vector<Entry>& entries) {
      std::vector<typename Converted::Entry> copies;
      copies.reserve(entries.size());
      for (const Entry& entry : entries) {
        copies.push_back({.item = entry.item,
                          .priority = entry.priority,
                          .failures = entry.failures,
                          .at = entry.at,
                          .dirty = entry.dirty,
                          .payload = convert(entry.payload)});
      }
      return copies;
    };
    return Converted{.ready = copy(ready),
                     .waiting = copy(waiting),
                     .processing = copy(processing),
                     .ready_count = ready_count,
                     .waiting_count = waiting_count,
                     .processing_count = processing_count,
                     .stray_dones = stray_dones,
                     .shutting_down = shutting_down};
  }

  std::vector<Entry> ready = {};       ///< highest priority first, grouped by tenant, oldest first
  std::vector<Entry> waiting = {};     ///< the items that wait for a delay, earliest first
  std::vector<Entry> processing = {};  ///< the items in processing, in no particular order
  // The counts include the items that are omitted because of the `limit` of TakeSnapshot.
  std::size_t ready_count = 0;
  std::size_t waiting_count = 0;
  std::size_t processing_count = 0;
  std::uint64_t stray_dones = 0;  ///< the number of Dones of items that were not in processing
  bool shutting_down = false;
};

}  // namespace kopp::workqueue
