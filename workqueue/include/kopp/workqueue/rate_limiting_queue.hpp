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

/// Options of RateLimitingQueue::AddRateLimited. For the other members, see AddOptions.
template <QueuePayload Payload = NoPayload>
struct RateLimitedOptions {
  std::optional<int> priority = {};
  /// The delay is at least this long, for example because of the Retry-After of a server.
  Duration min_delay = {};
  [[no_unique_address]] Payload payload = {};
};

/// Options of RateLimitingQueue::AddWithOptions. For the other members, see AddOptions.
template <QueuePayload Payload = NoPayload>
struct RequeueOptions {
  Duration after = {};  ///< the delay; there is no delay if it is zero or negative
  /// Whether to count one failure and apply the delay of the rate limiter. If `after` is positive,
  /// too, the shorter delay applies.
  bool rate_limited = false;
  /// The default is the priority of the item if it is being processed, otherwise 0.
  std::optional<int> priority = {};
  [[no_unique_address]] Payload payload = {};
};

/// A DelayingQueue with a rate limiter. AddRateLimited adds a failed item after the delay that the
/// limiter returns. Thread-safe.
///
///     while (const auto item = queue.Get()) {
///       const DoneGuard done{queue, *item};
///       if (Sync(*item)) {
///         queue.Forget(*item);
///       } else {
///         queue.AddRateLimited(*item);
///       }
///     }
template <Item T, QueuePayload Payload>
class RateLimitingQueue : public DelayingQueue<T, Payload> {
 public:
  /// If `limiter` is null, the delay of an item is 5 ms after its first failure and doubles with
  /// each further failure, up to 1000 s. Unlike DefaultControllerRateLimiter, this default has no
  /// token bucket.
  explicit RateLimitingQueue(QueueOptions options = {},
                             std::unique_ptr<RateLimiter<T>> limiter = nullptr)
      : DelayingQueue<T, Payload>(std::move(options)), limiter_(std::move(limiter)) {
    using namespace std::chrono_literals;
    if (limiter_) return;
    limiter_ = std::make_unique<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s, this->clock());
  }

  /// Counts one failure of `item`, and adds it after the delay that the limiter returns. If the
  /// limiter throws, AddRateLimited throws the same exception and does not add the item.
  void AddRateLimited(const T& item, RateLimitedOptions<Payload> options = {}) {
    const Duration delay = std::max(limiter_->When(item), options.min_delay);
    this->AddAfter(item, delay,
                   {.priority = options.priority, .payload = std::move(options.payload)});
  }

  /// Adds `item` after the delay that `options` specify, or immediately if there is none.
  void AddWithOptions(const T& item, RequeueOptions<Payload> options) {
    Duration delay = options.after;
    if (options.rate_limited) {
      const Duration limited = limiter_->When(item);
      delay = delay > Duration::zero() ? std::min(delay, limited) : limited;
    }
    AddOptions<Payload> add{.priority = options.priority, .payload = std::move(options.payload)};
    if (delay > Duration::zero()) return this->AddAfter(item, delay, std::move(add));
    if (!add.priority) add.priority = this->RequeuePriority(item);
    this->Add(item, std::move(add));
  }

  /// Resets the failures of `item`. Call it after success, or when you stop retrying. You must
  /// still call Done.
  void Forget(const T& item) { limiter_->Forget(item); }

  /// Returns the number of failures of `item` that the limiter has counted since the last Forget. A
  /// limiter can also reset the number after some time: see its class.
  [[nodiscard]] int NumRequeues(const T& item) { return limiter_->NumRequeues(item); }

  /// See Queue::TakeSnapshot. Entry::failures is read after the lock is released, so it can be
  /// newer than the rest.
  [[nodiscard]] Snapshot<T, Payload> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override {
    Snapshot<T, Payload> snapshot = DelayingQueue<T, Payload>::TakeSnapshot(limit);
    SetFailures(snapshot);
    return snapshot;
  }

 protected:
  /// Sets Entry::failures of all entries. Call it without a lock: it calls the limiter.
  void SetFailures(Snapshot<T, Payload>& snapshot) {
    for (auto* entries : {&snapshot.ready, &snapshot.waiting, &snapshot.processing}) {
      for (auto& entry : *entries) entry.failures = NumRequeues(entry.item);
    }
  }

 private:
  std::unique_ptr<RateLimiter<T>> limiter_;
};

}  // namespace kopp::workqueue
