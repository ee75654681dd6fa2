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
  /// Without a limiter an item is tried again after 5 ms, 10 ms, 20 ms … 1000 s, each by itself.
  explicit RateLimitingQueue(QueueOptions options = {},
                             std::unique_ptr<RateLimiter<T>> limiter = nullptr)
      : DelayingQueue<T>(std::move(options)), limiter_(std::move(limiter)) {
    using namespace std::chrono_literals;
    if (limiter_) return;
    limiter_ = std::make_unique<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s, this->clock());
  }

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
