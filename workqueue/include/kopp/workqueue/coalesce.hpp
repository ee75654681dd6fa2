#pragma once

#include <algorithm>

#include <kopp/workqueue/clock.hpp>

namespace kopp::workqueue {

/// Merges bursts of adds (debounce): an item is added when no add of it has come for `quiet`, but
/// at most `max_wait` after the first add. So an item that is added again and again is still
/// returned at least once per `max_wait`. See DelayingQueue::AddCoalesced.
///
///     DelayingQueue<ObjectKey> queue({.coalesce = {.quiet = 100ms, .max_wait = 1s}});
struct Coalesce {
  Duration quiet{};     ///< 0: adds are not delayed
  Duration max_wait{};  ///< 0: ten times `quiet`; at least `quiet`

  [[nodiscard]] bool enabled() const { return quiet > Duration::zero(); }
  /// Returns the end of the longest wait that starts at `now`.
  [[nodiscard]] TimePoint LatestEnd(TimePoint now) const {
    if (max_wait > Duration::zero()) return After(now, std::max(quiet, max_wait));
    return quiet > Duration::max() / 10 ? TimePoint::max() : After(now, 10 * quiet);
  }
};

}  // namespace kopp::workqueue
