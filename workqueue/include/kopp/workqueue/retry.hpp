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
#include <kopp/workqueue/jitter.hpp>
#include <kopp/workqueue/sleep.hpp>

namespace kopp::workqueue {

/// How often something is tried, and how long the waits between the tries are.
struct RetryBackoff {
  int steps = 1;                   ///< tries in all; fewer than one count as one
  Duration duration = {};          ///< the first wait
  double factor = 1.0;             ///< each further wait is this times the one before
  double jitter = 0.0;             ///< each wait gets longer by up to this share of it, at random
  Duration cap = Duration::max();  ///< no wait is longer, but for its jitter
};

/// For what several writers change at once: they meet seldom, and the next try mostly succeeds.
inline constexpr RetryBackoff kDefaultRetry{
    .steps = 5, .duration = std::chrono::milliseconds(10), .factor = 1.0, .jitter = 0.1};

/// For what controllers work on all the time: 10 ms, 50 ms, 250 ms.
inline constexpr RetryBackoff kDefaultBackoff{
    .steps = 4, .duration = std::chrono::milliseconds(10), .factor = 5.0, .jitter = 0.1};

struct RetryOptions {
  Clock& clock = Clock::Real();
  Chance chance = RealChance;  ///< of the jitter
};

/// Calls `fn` until it returns, and returns what it returned. When it throws an Error for which
/// `retriable` holds, waits and tries again, up to backoff.steps times in all.
///
/// Throws what the last try threw: at once where it is no Error or not retriable, after the last
/// step, and as soon as `stop` asks. A stop ends the waits, not a try, and the first try is made in
/// any case. All runs on the caller's thread.
///
///     OnError<std::system_error>(kDefaultBackoff, IsBusy, [&] { device.Reset(); }, stop);
///
/// client-go: with no step it tries nothing and reports success, and the first wait that reaches
/// the cap is the last, with no try after it.
template <typename Error = std::exception, std::predicate<const Error&> Retriable,
          std::invocable Fn>
std::invoke_result_t<Fn&> OnError(const RetryBackoff& backoff, Retriable retriable, Fn&& fn,
                                  const RetryOptions& options, const std::stop_token& stop = {}) {
  Duration wait = std::min(backoff.duration, backoff.cap);
  for (int step = 1;; ++step) {
    try {
      return fn();
    } catch (const Error& error) {
      if (step >= backoff.steps || !std::invoke(retriable, error)) throw;
      const double longer = backoff.jitter > 0 ? backoff.jitter * options.chance() : 0;
      const TimePoint again = After(options.clock.Now(), Scaled(wait, 1 + longer));
      if (!SleepUntil(options.clock, again, stop)) throw;
    }
    wait = std::min(Scaled(wait, backoff.factor), backoff.cap);
  }
}

/// The same on the machine's clock.
template <typename Error = std::exception, std::predicate<const Error&> Retriable,
          std::invocable Fn>
std::invoke_result_t<Fn&> OnError(const RetryBackoff& backoff, Retriable retriable, Fn&& fn,
                                  const std::stop_token& stop = {}) {
  return OnError<Error>(backoff, std::move(retriable), fn, RetryOptions{}, stop);
}

}  // namespace kopp::workqueue
