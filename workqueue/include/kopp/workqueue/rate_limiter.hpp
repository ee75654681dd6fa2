#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/duration_math.hpp>
#include <kopp/workqueue/detail/failure_counts.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue {

/// Decides how long a failed item waits before it is retried. Implementations must be thread-safe
/// and must not block.
template <Item T>
class RateLimiter {
 public:
  virtual ~RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  /// Counts one failure of `item`, and returns the delay before its next try.
  virtual Duration When(const T& item) = 0;
  /// Resets the failures of `item`.
  virtual void Forget(const T& item) = 0;
  /// Returns the number of failures of `item` since its last Forget.
  [[nodiscard]] virtual int NumRequeues(const T& item) = 0;

 protected:
  RateLimiter() = default;
};

namespace detail {

/// Returns `delay`. Throws std::invalid_argument if it is negative: failed items would be retried
/// without a pause.
inline Duration RequireNotNegative(Duration delay, const char* name) {
  if (delay >= Duration::zero()) return delay;
  throw std::invalid_argument(std::string("the delay ") + name +
                              " of a rate limiter must not be negative");
}

}  // namespace detail

/// Returns the delay `base` after the first failure of an item, and doubles it with each further
/// failure, up to `max`. If more than twice `max` has passed since the last failure of an item, it
/// starts again at `base`. So `max` should be longer than it takes to process an item.
template <Item T>
class ItemExponentialFailureRateLimiter final : public RateLimiter<T> {
 public:
  /// Throws std::invalid_argument if a delay is negative.
  ItemExponentialFailureRateLimiter(Duration base, Duration max, Clock& clock = Clock::Real())
      : base_(detail::RequireNotNegative(base, "base")),
        max_(detail::RequireNotNegative(max, "max")),
        failures_(detail::Doubled(max), clock) {}

  Duration When(const T& item) override {
    const int failures = failures_.Increment(item);
    Duration delay = base_;
    for (int i = 0; i < failures && delay > Duration::zero(); ++i) {
      if (delay > max_ / 2) return max_;  // doubling would exceed it, or overflow
      delay *= 2;
    }
    return std::min(delay, max_);
  }
  void Forget(const T& item) override { failures_.Forget(item); }
  [[nodiscard]] int NumRequeues(const T& item) override { return failures_.Get(item); }

 private:
  Duration base_;
  Duration max_;
  detail::FailureCounts<T> failures_;
};

/// Returns the delay `fast` for the first `max_fast_attempts` failures of an item, then `slow`. If
/// more than twice the longer delay has passed since the last failure of an item, the number of
/// failures starts again at 0.
template <Item T>
class ItemFastSlowRateLimiter final : public RateLimiter<T> {
 public:
  /// Throws std::invalid_argument if a delay is negative.
  ItemFastSlowRateLimiter(Duration fast, Duration slow, int max_fast_attempts,
                          Clock& clock = Clock::Real())
      : fast_(detail::RequireNotNegative(fast, "fast")),
        slow_(detail::RequireNotNegative(slow, "slow")),
        max_fast_attempts_(max_fast_attempts),
        failures_(detail::Doubled(std::max(fast, slow)), clock) {}

  Duration When(const T& item) override {
    return failures_.Increment(item) < max_fast_attempts_ ? fast_ : slow_;
  }
  void Forget(const T& item) override { failures_.Forget(item); }
  [[nodiscard]] int NumRequeues(const T& item) override { return failures_.Get(item); }

 private:
  Duration fast_;
  Duration slow_;
  int max_fast_attempts_;
  detail::FailureCounts<T> failures_;
};

/// A token bucket for all items together. The first `burst` items have no delay; further items are
/// delayed, so that they become ready at a rate of `per_second`. Each When reserves the next free
/// token, even if it is far in the future. This limiter does not count failures.
template <Item T>
class BucketRateLimiter final : public RateLimiter<T> {
 public:
  /// Throws std::invalid_argument unless `per_second` > 0 and `burst` >= 1.
  BucketRateLimiter(double per_second, int burst, Clock& clock = Clock::Real())
      : per_second_(per_second), burst_(burst), clock_(clock), bucket_(double(burst), clock.Now()) {
    if (!(per_second > 0) || burst < 1) {
      throw std::invalid_argument(
          "BucketRateLimiter: per_second must be > 0 and burst must be >= 1");
    }
  }

  Duration When(const T&) override {
    using Seconds = std::chrono::duration<double>;
    const TimePoint now = clock_.Now();
    auto bucket = bucket_.Lock();
    const double refilled = Seconds(now - bucket->refilled_at).count() * per_second_;
    bucket->tokens = std::min(burst_, bucket->tokens + refilled) - 1;
    bucket->refilled_at = now;
    if (bucket->tokens >= 0) return Duration::zero();
    const Seconds wait{-bucket->tokens / per_second_};
    const bool fits = wait < Duration::max() / 2;
    return fits ? std::chrono::duration_cast<Duration>(wait) : Duration::max();
  }
  void Forget(const T&) override {}
  [[nodiscard]] int NumRequeues(const T&) override { return 0; }

 private:
  struct Bucket {
    double tokens = 0;  // negative if tokens of the future are reserved
    TimePoint refilled_at{};
  };

  double per_second_;
  double burst_;
  Clock& clock_;
  kopp::detail::Guarded<Bucket> bucket_;
};

/// Returns the longest delay of several limiters. Each limiter counts each failure.
template <Item T>
class MaxOfRateLimiter final : public RateLimiter<T> {
 public:
  explicit MaxOfRateLimiter(std::vector<std::unique_ptr<RateLimiter<T>>> limiters)
      : limiters_(std::move(limiters)) {}
  template <std::derived_from<RateLimiter<T>>... Limiters>
  explicit MaxOfRateLimiter(std::unique_ptr<Limiters>... limiters) {
    (limiters_.push_back(std::move(limiters)), ...);
  }

  Duration When(const T& item) override {
    Duration longest{};
    for (const auto& limiter : limiters_) longest = std::max(longest, limiter->When(item));
    return longest;
  }
  void Forget(const T& item) override {
    for (const auto& limiter : limiters_) limiter->Forget(item);
  }
  [[nodiscard]] int NumRequeues(const T& item) override {
    int most = 0;
    for (const auto& limiter : limiters_) most = std::max(most, limiter->NumRequeues(item));
    return most;
  }

 private:
  std::vector<std::unique_ptr<RateLimiter<T>>> limiters_;
};

/// Returns the delay of another limiter, but at most `max`.
template <Item T>
class WithMaxWaitRateLimiter final : public RateLimiter<T> {
 public:
  /// Throws std::invalid_argument if `max` is negative.
  WithMaxWaitRateLimiter(std::unique_ptr<RateLimiter<T>> limiter, Duration max)
      : limiter_(std::move(limiter)), max_(detail::RequireNotNegative(max, "max")) {}

  Duration When(const T& item) override { return std::min(limiter_->When(item), max_); }
  void Forget(const T& item) override { limiter_->Forget(item); }
  [[nodiscard]] int NumRequeues(const T& item) override { return limiter_->NumRequeues(item); }

 private:
  std::unique_ptr<RateLimiter<T>> limiter_;
  Duration max_;
};

/// Returns a limiter that uses the longer of two delays: a delay per item, which is 5 ms after its
/// first failure and doubles with each further failure, up to 1000 s; and a token bucket of 10 per
/// second with a burst of 100 for all items together.
template <Item T>
std::unique_ptr<RateLimiter<T>> DefaultControllerRateLimiter(Clock& clock = Clock::Real()) {
  using namespace std::chrono_literals;
  return std::make_unique<MaxOfRateLimiter<T>>(
      std::make_unique<ItemExponentialFailureRateLimiter<T>>(5ms, 1000s, clock),
      std::make_unique<BucketRateLimiter<T>>(10, 100, clock));
}

/// Returns a limiter whose delay is 1 ms after the first failure of an item and doubles with each
/// further failure, up to 1000 s.
template <Item T>
std::unique_ptr<RateLimiter<T>> DefaultItemBasedRateLimiter(Clock& clock = Clock::Real()) {
  using namespace std::chrono_literals;
  return std::make_unique<ItemExponentialFailureRateLimiter<T>>(1ms, 1000s, clock);
}

}  // namespace kopp::workqueue
