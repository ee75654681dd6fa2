#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/duration_math.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/item.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp::workqueue {

/// Options of a Backoff.
struct BackoffOptions {
  /// Lengthens each delay by a random amount, up to this fraction of the previous delay.
  double jitter = 0;
  /// A key expires when more than this time has passed since its last failure. If it is zero or
  /// negative, twice the maximum delay is used.
  Duration idle = {};
  Clock& clock = Clock::Real();        ///< must outlive the Backoff
  RandomSource random = SystemRandom;  ///< used for the jitter; called without a lock
};

/// Computes a delay for each key. The first failure of a key sets its delay to `initial`; each
/// further failure doubles the delay, up to `max`. Use it to check whether the delay of a key has
/// passed. Use a RateLimitingQueue to get the key when its delay has passed.
///
/// A key expires when more than options.idle has passed since its last failure, so the memory stays
/// bounded even if Reset is not called. Thread-safe; no member blocks.
///
///     if (backoff.IsInBackOffSinceUpdate(image)) return;  // too early
///     if (!Pull(image)) backoff.Next(image);
template <Item T>
class Backoff {
 public:
  Backoff(Duration initial, Duration max, BackoffOptions options = {})
      : initial_(initial),
        max_(std::max(max, Duration::zero())),
        options_(std::move(options)),
        idle_timeout_(options_.idle > Duration::zero() ? options_.idle : detail::Doubled(max_)) {}

  /// Counts one failure of `key`. Returns its new delay. In client-go, the first delay can be
  /// longer than the maximum.
  Duration Next(const T& key);

  /// Returns the delay of `key`; zero if it has not failed since it was reset or expired.
  [[nodiscard]] Duration Get(const T& key) { return Find(key, options_.clock.Now()).delay; }

  /// Returns true until the delay of `key` has passed since `since`. In client-go, a key expires by
  /// `since`, not by the clock.
  [[nodiscard]] bool IsInBackOffSince(const T& key, TimePoint since) {
    const TimePoint now = options_.clock.Now();
    const Duration delay = Find(key, now).delay;
    return delay > Duration::zero() && now < SaturatingAdd(since, delay);
  }

  /// Returns true until the delay of `key` has passed since the last Next of `key`. In client-go,
  /// the caller passes the current time.
  [[nodiscard]] bool IsInBackOffSinceUpdate(const T& key) {
    const TimePoint now = options_.clock.Now();
    const Entry entry = Find(key, now);
    return now < SaturatingAdd(entry.last_failure, entry.delay);
  }

  /// Removes `key`. Call it after success, or if the key no longer exists.
  void Reset(const T& key) { state_.Lock()->entries.erase(key); }
  /// Same as Reset; the name is the one in client-go.
  void DeleteEntry(const T& key) { Reset(key); }

  /// Frees the memory of expired keys. Next does the same at most once per options.idle.
  void Gc() {
    const TimePoint now = options_.clock.Now();
    RemoveExpired(*state_.Lock(), now);
  }

  /// Returns the number of keys, including expired keys that were not freed yet.
  [[nodiscard]] std::size_t Len() { return state_.Lock()->entries.size(); }

 private:
  struct Entry {
    Duration delay{};
    TimePoint last_failure{};  // the time of the last Next
  };
  struct State {
    std::unordered_map<T, Entry> entries;
    TimePoint next_cleanup{};
  };

  [[nodiscard]] bool Expired(const Entry& entry, TimePoint now) const {
    return now > SaturatingAdd(entry.last_failure, idle_timeout_);
  }
  /// Returns the entry of `key`, or an entry without a delay if there is none or it has expired.
  [[nodiscard]] Entry Find(const T& key, TimePoint now);
  void RemoveExpired(State& state, TimePoint now) const;

  const Duration initial_;
  const Duration max_;
  const BackoffOptions options_;
  const Duration idle_timeout_;
  kopp::detail::Guarded<State> state_;
};

template <Item T>
Duration Backoff<T>::Next(const T& key) {
  const double extra = options_.jitter > 0 ? options_.jitter * options_.random() : 0;
  const TimePoint now = options_.clock.Now();
  auto state = state_.Lock();
  if (now >= state->next_cleanup) RemoveExpired(*state, now);
  const auto [found, is_new] = state->entries.try_emplace(key);
  Entry& entry = found->second;
  const bool first = is_new || Expired(entry, now);
  entry.delay = std::min(
      first ? detail::Scaled(initial_, 1 + extra) : detail::Scaled(entry.delay, 2 + extra), max_);
  entry.last_failure = now;
  return entry.delay;
}

template <Item T>
auto Backoff<T>::Find(const T& key, TimePoint now) -> Entry {
  auto state = state_.Lock();
  const auto found = state->entries.find(key);
  if (found == state->entries.end() || Expired(found->second, now)) return {};
  return found->second;
}

template <Item T>
void Backoff<T>::RemoveExpired(State& state, TimePoint now) const {
  std::erase_if(state.entries, [&](const auto& entry) { return Expired(entry.second, now); });
  state.next_cleanup = SaturatingAdd(now, idle_timeout_);
}

}  // namespace kopp::workqueue
