#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <kopp/workqueue/delaying_queue.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp::workqueue {

/// A DelayingQueue that knows how long an item that failed is to wait: AddRateLimited.
///
///     Sync(*item) ? queue.Forget(*item) : queue.AddRateLimited(*item);
template <Item T>
class RateLimitingQueue : public DelayingQueue<T> {
 public:
  /// Retries after 5 ms, 10 ms, 20 ms … 1000 s, each item by itself.
  explicit RateLimitingQueue(QueueOptions options = {})
      : RateLimitingQueue(
            options, std::make_unique<ItemExponentialFailureRateLimiter<T>>(
                         std::chrono::milliseconds(5), std::chrono::seconds(1000), options.clock)) {
  }

  /// Requires: `limiter` is not null.
  RateLimitingQueue(QueueOptions options, std::unique_ptr<RateLimiter<T>> limiter)
      : DelayingQueue<T>(std::move(options)), limiter_(std::move(limiter)) {}

  /// Adds `item` after the wait that the limiter asks for, and counts one more failure of it.
  void AddRateLimited(const T& item) { this->AddAfter(item, limiter_->When(item)); }

  /// `item` succeeded, or is given up: its failures are forgotten. It still wants its Done.
  void Forget(const T& item) { limiter_->Forget(item); }

  /// The failures of `item` since its last Forget.
  [[nodiscard]] int NumRequeues(const T& item) { return limiter_->NumRequeues(item); }

 private:
  std::unique_ptr<RateLimiter<T>> limiter_;
};

}  // namespace kopp::workqueue
