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

/// How an item is added: when, and how far in front.
struct AddOptions {
  Duration after = {};               ///< not before this has passed
  bool rate_limited = false;         ///< nor before the limiter's wait, if that is shorter
  std::optional<int> priority = {};  ///< see DelayingQueue::AddAfter
};

/// A DelayingQueue that knows how long an item that failed is to wait: AddRateLimited.
///
///     Sync(*item) ? queue.Forget(*item) : queue.AddRateLimited(*item);
template <Item T>
class RateLimitingQueue : public DelayingQueue<T> {
 public:
  /// Without a limiter an item is tried again after 5 ms, 10 ms, 20 ms … 1000 s, each by itself.
  explicit RateLimitingQueue(QueueOptions options = {},
                             std::unique_ptr<RateLimiter<T>> limiter = nullptr)
      : DelayingQueue<T>(std::move(options)), limiter_(std::move(limiter)) {
    using namespace std::chrono_literals;
    if (limiter_) return;
    limiter_ = std::make_unique<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s, this->clock());
  }

  /// Adds `item` after the wait that the limiter asks for, and counts one more failure of it. What
  /// the limiter throws, it throws, and the item is not added.
  void AddRateLimited(const T& item, std::optional<int> priority = {}) {
    this->AddAfter(item, limiter_->When(item), priority);
  }

  /// The same in one: rate limited and with a wait of its own, the shorter of the two counts.
  void AddWithOptions(const T& item, const AddOptions& options) {
    Duration delay = options.after;
    if (options.rate_limited) {
      const Duration when = limiter_->When(item);
      delay = delay > Duration::zero() ? std::min(delay, when) : when;
    }
    if (delay > Duration::zero()) return this->AddAfter(item, delay, options.priority);
    this->Add(item, options.priority ? *options.priority : this->PriorityOfRequeue(item));
  }

  /// `item` succeeded, or is given up: its failures are forgotten. It still wants its Done.
  void Forget(const T& item) { limiter_->Forget(item); }

  /// The failures of `item` since its last Forget.
  [[nodiscard]] int NumRequeues(const T& item) { return limiter_->NumRequeues(item); }

  [[nodiscard]] Snapshot<T> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override {
    Snapshot<T> snapshot = DelayingQueue<T>::TakeSnapshot(limit);
    for (auto* entries : {&snapshot.ready, &snapshot.waiting, &snapshot.in_hand}) {
      for (auto& entry : *entries) entry.failures = NumRequeues(entry.item);
    }
    return snapshot;
  }

 private:
  std::unique_ptr<RateLimiter<T>> limiter_;
};

}  // namespace kopp::workqueue
