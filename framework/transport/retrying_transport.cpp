#include "base/option_checks.hpp"
#include "http_client_messages.hpp"

#include <algorithm>
#include <utility>

#include <kopp/informer/detail/retry_after.hpp>
#include <kopp/transport/retrying_transport.hpp>

namespace kopp {
namespace {

constexpr Duration kMaxBackoff = std::chrono::seconds(30);

// Returns the shortest wait before `request` may be sent again, or nullopt if it must not be. The
// table in retrying_transport.hpp has the reasons.
std::optional<Duration> RetryDelay(const ApiRequest& request, const ApiResponse& response) {
  const bool not_executed = response.status == 429 || response.status == 503;
  const bool may_retry = not_executed || (response.status >= 500 && detail::IsSafeToRetry(request));
  return may_retry ? response.retry_after : std::nullopt;
}

std::optional<Duration> RetryDelay(const ApiRequest& request, const TransportError& error) {
  using Kind = TransportError::Kind;
  const bool not_sent = error.kind() == Kind::kUnreachable;
  const bool may_retry =
      not_sent || (error.kind() == Kind::kBroken && detail::IsSafeToRetry(request));
  return may_retry ? std::optional(Duration::zero()) : std::nullopt;
}

// The retries of one call.
class Retries {
 public:
  /// `request` must outlive the object.
  Retries(const ApiRequest& request, const RetryPolicy& policy, Clock& clock,
          const workqueue::RandomSource& random)
      : first_(request),
        max_tries_(policy.max_tries),
        backoff_(policy.initial_backoff),
        deadline_(SaturatingAdd(clock.Now(), policy.max_elapsed_time)),
        clock_(clock),
        random_(random) {}

  // Returns the request of the current try. It is a copy only if it is a retry.
  [[nodiscard]] const ApiRequest& request() const { return retry_ ? *retry_ : first_; }

  // Blocks until the next try is due, at least for `delay`, and counts it in request(). Returns
  // false immediately if there is none. Throws TransportError if a stop is requested.
  bool WaitForNext(std::optional<Duration> delay, const std::stop_token& stop) {
    if (!delay || request().attempt >= max_tries_) return false;
    const Duration wait = std::max(*delay, backoff_);
    const TimePoint now = clock_.Now();
    if (SaturatingAdd(now, wait) > deadline_) return false;
    if (!SleepUntil(clock_, SaturatingAdd(now, RetryAfterDelay(wait, random_())), stop)) {
      throw TransportError(TransportError::Kind::kCancelled,
                           first_.method + " " + first_.target +
                               ": cancelled before a retry because a stop was requested");
    }
    backoff_ = backoff_ < kMaxBackoff / 2 ? 2 * backoff_ : kMaxBackoff;
    if (!retry_) retry_ = first_;
    ++retry_->attempt;
    return true;
  }

 private:
  const ApiRequest& first_;
  std::optional<ApiRequest> retry_;
  const int max_tries_;
  Duration backoff_;
  const TimePoint deadline_;  // no retry starts later
  Clock& clock_;
  const workqueue::RandomSource& random_;
};

}  // namespace

RetryingTransport::RetryingTransport(std::shared_ptr<Transport> next, RetryPolicy policy,
                                     Clock& clock, workqueue::RandomSource random)
    : next_(std::move(next)), policy_(policy), clock_(clock), random_(std::move(random)) {
  detail::RequireNotNegative("RetryPolicy::initial_backoff", policy.initial_backoff);
  detail::RequireNotNegative("RetryPolicy::max_elapsed_time", policy.max_elapsed_time);
}

ApiResponse RetryingTransport::Call(const ApiRequest& request, std::stop_token stop) {
  Retries retries(request, policy_, clock_, random_);
  for (;;) {
    try {
      ApiResponse response = next_->Call(retries.request(), stop);
      if (!retries.WaitForNext(RetryDelay(request, response), stop)) return response;
    } catch (const TransportError& error) {
      if (!retries.WaitForNext(RetryDelay(request, error), stop)) throw;
    }
  }
}

std::unique_ptr<Stream> RetryingTransport::Open(const ApiRequest& request, std::stop_token stop) {
  return next_->Open(request, std::move(stop));
}

}  // namespace kopp
