#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

#include <kopp/log.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {

/// The maximum rate of calls of all threads together.
struct RateLimit {
  double qps = 0;  ///< calls per second; 0 or less: no limit
  /// The number of calls that may be sent at once after a pause; 0 or less: twice `qps`.
  int burst = 0;
};

/// Called for each call with its method and the time that it waited for its turn, which may be 0,
/// on the thread of the call. Must be thread-safe and must not throw.
using RateLimitObserver = std::function<void(std::string_view method, Duration wait)>;

/// A Transport that delays calls so that a RateLimit is kept. The calling thread waits for its
/// turn; a stop request interrupts the wait with TransportError (kCancelled). Streams are exempt:
/// an informer opens few of them, and must not wait behind calls. Thread-safe.
///
/// A wait of more than 50 ms is logged at verbosity 3 and one of more than 1 s at any verbosity, as
/// "Waited before sending request".
class RateLimitingTransport final : public Transport {
 public:
  /// Throws std::invalid_argument unless limit.qps > 0. `clock` must outlive the transport.
  RateLimitingTransport(std::shared_ptr<Transport> next, RateLimit limit, Logger log,
                        Clock& clock = Clock::Real(), RateLimitObserver observer = {});

  ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) override;

 private:
  void LogWait(const ApiRequest& request, Duration wait) const;

  const std::shared_ptr<Transport> next_;
  const Logger log_;
  Clock& clock_;
  const RateLimitObserver observer_;
  workqueue::BucketRateLimiter<int> bucket_;  // one item: the limit is common to all calls
};

}  // namespace kopp
