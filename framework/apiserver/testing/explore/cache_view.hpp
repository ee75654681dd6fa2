#pragma once

#include "cache/informer_set_impl.hpp"
#include "storage/store.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <kopp/informer/source.hpp>
#include <kopp/informer_set.hpp>

namespace kopp::apiserver::explore {

/// An informer of the operator's cache that is fed step by step: it lists, and its watch events
/// wait until Deliver is called for each.
class CacheView {
 public:
  /// Until when the events wait; see the table at testing::Explore.
  enum class Hold { kNone, kDelay, kHold, kHoldStep, kGap };

  /// The informer must outlive the view.
  explicit CacheView(const ManualInformer& informer) : informer_(informer) {}

  [[nodiscard]] const OwningKind& kind() const { return informer_.kind; }
  /// Lists the newest objects, or those at version `at`, and watches from there. Pending events are
  /// dropped.
  void List(std::optional<ResourceVersion> at = {});
  /// Takes the events that the server has sent. Call it after each write.
  void Receive();
  [[nodiscard]] bool HasPending() const { return !pending_.empty(); }
  /// Returns the version of the next event. Requires: HasPending().
  [[nodiscard]] ResourceVersion NextVersion() const;
  /// Returns "MODIFIED default/web". Requires: HasPending().
  [[nodiscard]] std::string DescribeNext() const;
  /// Applies the next event to the cache, and calls the handlers. Requires: HasPending().
  void Deliver();

  /// Runs resyncs that are due at `now`. Returns the time of the next one.
  TimePoint RunPeriodicWork(TimePoint now) { return informer_.sink->RunPeriodicWork(now); }

  Hold hold = Hold::kNone;
  std::size_t held_at_step = 0;  ///< the number of steps taken when `hold` began
  std::size_t held_reconciles = 0;

 private:
  ManualInformer informer_;
  std::unique_ptr<informer::WatchStream> watch_;
  std::deque<informer::WatchItem> pending_;
};

}  // namespace kopp::apiserver::explore
