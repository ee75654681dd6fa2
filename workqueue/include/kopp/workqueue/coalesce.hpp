#pragma once

#include <algorithm>

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue {

/// The times of CoalescingQueue::AddCoalesced, which merges bursts of adds (debounce): it adds an
/// item when no add of it has arrived for `quiet`, but at most `max_wait` after the first add. So
/// an item that is added again and again still becomes ready about once per `max_wait`.
struct Coalesce {
  Duration quiet{};     ///< 0: adds are not delayed
  Duration max_wait{};  ///< 0: ten times `quiet`; a shorter time than `quiet` counts as `quiet`

  [[nodiscard]] bool enabled() const { return quiet > Duration::zero(); }
  /// Returns the end of the longest wait that starts at `now`.
  [[nodiscard]] TimePoint LatestEnd(TimePoint now) const {
    if (max_wait > Duration::zero()) return SaturatingAdd(now, std::max(quiet, max_wait));
    return quiet > Duration::max() / 10 ? TimePoint::max() : SaturatingAdd(now, 10 * quiet);
  }
};

}  // namespace kopp::workqueue
