#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {

/// How often and how long a RetryingTransport retries one call.
struct RetryPolicy {
  int max_tries = 10;  ///< including the first one; 1 or less: a call is never retried
  /// The wait before the first retry. It doubles with each further retry, up to 30 s. A longer
  /// Retry-After of the server is respected.
  Duration initial_backoff = std::chrono::milliseconds(100);
  /// A retry that would start later than this after the start of the call is not made: the call
  /// then returns the response, or throws the error, of the last try. The jitter of the wait is not
  /// counted.
  Duration max_elapsed_time = std::chrono::seconds(5);
};

/// A Transport that retries a call if the server has not executed it, or if executing it twice is
/// harmless:
///
/// - 429 and 503 with Retry-After, for all methods: a limit rejects a request before it is
///   executed, and a server that is starting or stopping executes nothing.
/// - Another 5xx with Retry-After, for GET only: the API server may have executed the request, for
///   example after a timeout of etcd.
/// - TransportError with kUnreachable, for all methods: nothing was sent.
/// - TransportError with kBroken, for GET only: the server may have executed the request.
///
/// The waits are lengthened by a random jitter of up to a half (see RetryAfterDelay). They block
/// the calling thread; a stop request interrupts them with TransportError (kCancelled). A server
/// that asks for a longer wait than RetryPolicy::max_elapsed_time gets it without a blocked thread:
/// the caller gets the response, and a controller queues the key until the Retry-After has passed.
///
/// Open is not retried: the reader of a stream knows where to resume. Thread-safe.
class RetryingTransport final : public Transport {
 public:
  /// `clock` must outlive the transport; `random` is used for the jitter.
  explicit RetryingTransport(std::shared_ptr<Transport> next, RetryPolicy policy = {},
                             Clock& clock = Clock::Real(),
                             workqueue::RandomSource random = workqueue::SystemRandom);

  ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) override;

 private:
  const std::shared_ptr<Transport> next_;
  const RetryPolicy policy_;
  Clock& clock_;
  const workqueue::RandomSource random_;
};

}  // namespace kopp
