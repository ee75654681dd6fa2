#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/duration_math.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp::workqueue {

/// The number of tries, and the delays between them.
struct RetryBackoff {
  int steps = 1;                   ///< the number of tries; if it is less than 1, 1 is used
  Duration duration = {};          ///< the first delay
  double factor = 1.0;             ///< each further delay is the previous delay times `factor`
  double jitter = 0.0;             ///< the maximum random fraction by which a delay is lengthened
  Duration cap = Duration::max();  ///< the maximum delay, without its jitter
};

/// Use it for objects that several clients write. Conflicts are rare, and the next try usually
/// succeeds.
inline constexpr RetryBackoff kDefaultRetry{
    .steps = 5, .duration = std::chrono::milliseconds(10), .factor = 1.0, .jitter = 0.1};

/// Use it for objects that other controllers write frequently. The delays are 10 ms, 50 ms and
/// 250 ms.
inline constexpr RetryBackoff kDefaultBackoff{
    .steps = 4, .duration = std::chrono::milliseconds(10), .factor = 5.0, .jitter = 0.1};

/// Options of OnError.
struct RetryOptions {
  Clock& clock = Clock::Real();
  RandomSource random = SystemRandom;  ///< used for the jitter
};

/// Calls `fn`, and calls it again after a delay if it throws an Error for which `retriable` returns
/// true. Calls `fn` at most backoff.steps times, and at least once. Returns the result of `fn`.
///
/// Throws the exception of the last call if it is not an Error or not retriable, if it was the last
/// step, or if `stop` is requested. A stop interrupts a delay, but not a call of `fn`. Everything
/// runs on the calling thread.
///
///     OnError<std::system_error>(kDefaultBackoff, IsBusy, [&] { device.Reset(); }, stop);
///
/// client-go, in contrast, calls nothing and reports success with zero steps, and it gives up after
/// the first delay that reaches the cap.
template <typename Error = std::exception, std::predicate<const Error&> Retriable,
          std::invocable Fn>
std::invoke_result_t<Fn&> OnError(const RetryBackoff& backoff, Retriable retriable, Fn&& fn,
                                  const RetryOptions& options, const std::stop_token& stop = {}) {
  Duration delay = std::min(backoff.duration, backoff.cap);
  for (int step = 1;; ++step) {
    try {
      return fn();
    } catch (const Error& error) {
      if (step >= backoff.steps || !std::invoke(retriable, error)) throw;
      const double extra = backoff.jitter > 0 ? backoff.jitter * options.random() : 0;
      const TimePoint next = SaturatingAdd(options.clock.Now(), detail::Scaled(delay, 1 + extra));
      if (!SleepUntil(options.clock, next, stop)) throw;
    }
    delay = std::min(detail::Scaled(delay, backoff.factor), backoff.cap);
  }
}

/// Like the overload with RetryOptions, with the real clock.
template <typename Error = std::exception, std::predicate<const Error&> Retriable,
          std::invocable Fn>
std::invoke_result_t<Fn&> OnError(const RetryBackoff& backoff, Retriable retriable, Fn&& fn,
                                  const std::stop_token& stop = {}) {
  return OnError<Error>(backoff, std::move(retriable), fn, RetryOptions{}, stop);
}

}  // namespace kopp::workqueue
