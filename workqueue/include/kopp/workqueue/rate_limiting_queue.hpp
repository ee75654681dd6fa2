#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <kopp/workqueue/delaying_queue.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp::workqueue {

/// Options of AddWithOptions.
struct AddOptions {
  Duration after = {};  ///< the delay; zero or negative: none
  /// Asks the rate limiter for a delay. If `after` is positive too, the shorter delay applies.
  bool rate_limited = false;
  std::optional<int> priority = {};  ///< see DelayingQueue::AddAfter
};

/// A DelayingQueue with a rate limiter that delays failed items: AddRateLimited.
///
///     Sync(*item) ? queue.Forget(*item) : queue.AddRateLimited(*item);
template <Item T>
class RateLimitingQueue : public DelayingQueue<T> {
 public:
  /// The default limiter delays an item by 5 ms, 10 ms, 20 ms … 1000 s, by its own failures.
  explicit RateLimitingQueue(QueueOptions options = {},
                             std::unique_ptr<RateLimiter<T>> limiter = nullptr)
      : DelayingQueue<T>(std::move(options)), limiter_(std::move(limiter)) {
    using namespace std::chrono_literals;
    if (limiter_) return;
    limiter_ = std::make_unique<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s, this->clock());
  }

  /// Counts one failure of `item`, and adds it after the delay that the limiter returns. If the
  /// limiter throws, the item is not added, and the exception reaches the caller.
  void AddRateLimited(const T& item, std::optional<int> priority = {}) {
    this->AddAfter(item, limiter_->When(item), priority);
  }

  /// Adds `item` as `options` say: immediately, after a delay, or rate limited.
  void AddWithOptions(const T& item, const AddOptions& options) {
    Duration delay = options.after;
    if (options.rate_limited) {
      const Duration limited = limiter_->When(item);
      delay = delay > Duration::zero() ? std::min(delay, limited) : limited;
    }
    if (delay > Duration::zero()) return this->AddAfter(item, delay, options.priority);
    this->Add(item, options.priority ? *options.priority : this->RequeuePriority(item));
  }

  /// Resets the failures of `item`: call it after success, or if the item is not to be retried.
  /// The item still needs a Done.
  void Forget(const T& item) { limiter_->Forget(item); }

  /// The failures of `item` since its last Forget.
  [[nodiscard]] int NumRequeues(const T& item) { return limiter_->NumRequeues(item); }

  [[nodiscard]] Snapshot<T> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override {
    Snapshot<T> snapshot = DelayingQueue<T>::TakeSnapshot(limit);
    for (auto* entries : {&snapshot.ready, &snapshot.waiting, &snapshot.processing}) {
      for (auto& entry : *entries) entry.failures = NumRequeues(entry.item);
    }
    return snapshot;
  }

 private:
  std::unique_ptr<RateLimiter<T>> limiter_;
};

}  // namespace kopp::workqueue
