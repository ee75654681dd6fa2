#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/failure_counts.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/jitter.hpp>

namespace kopp::workqueue {

struct BackoffOptions {
  double jitter = 0;   ///< a delay gets longer by up to this share of the one before, at random
  Duration idle = {};  ///< for how long a key is remembered; zero: for twice the longest delay
  Clock& clock = Clock::Real();  ///< outlives the back-off
  Chance chance = RealChance;    ///< of the jitter; called with no lock held
};

/// A delay for each key: initial, 2 × initial, 4 × initial … for failures in a row, never more than
/// max. For whoever asks "is it time yet?"; who wants to be told takes a RateLimitingQueue.
///
/// A key whose last failure was longer than options.idle ago is forgotten by itself, so keys that
/// nobody resets take no memory for ever. Every member may be called from any thread; none blocks.
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
        idle_(options_.idle > Duration::zero() ? options_.idle : Twice(max_)) {}

  /// `key` failed once more. Returns its delay from now on.
  /// client-go: the first delay may be longer than the longest.
  Duration Next(const T& key);

  /// The delay of `key`; zero for one that did not fail, or is forgotten.
  [[nodiscard]] Duration Get(const T& key) { return Find(key, options_.clock.Now()).delay; }

  /// Whether the delay of `key` has still to pass, when it began at `since`.
  /// client-go: forgets by `since`, not by the clock.
  [[nodiscard]] bool IsInBackOffSince(const T& key, TimePoint since) {
    const TimePoint now = options_.clock.Now();
    const Duration delay = Find(key, now).delay;
    return delay > Duration::zero() && now < After(since, delay);
  }

  /// The same since its last Next.
  /// client-go: is told by the caller what time it is.
  [[nodiscard]] bool IsInBackOffSinceUpdate(const T& key) {
    const TimePoint now = options_.clock.Now();
    const Entry entry = Find(key, now);
    return now < After(entry.last, entry.delay);
  }

  /// `key` succeeded, or is gone: it starts anew.
  void Reset(const T& key) { state_.Lock()->entries.erase(key); }
  /// The same, by client-go's other name.
  void DeleteEntry(const T& key) { Reset(key); }

  /// Frees the memory of what is forgotten. Next does that too, once in options.idle.
  void Gc() {
    const TimePoint now = options_.clock.Now();
    Sweep(*state_.Lock(), now);
  }

  /// How many keys take memory.
  [[nodiscard]] std::size_t Len() { return state_.Lock()->entries.size(); }

 private:
  struct Entry {
    Duration delay{};
    TimePoint last{};  // the moment of its last Next
  };
  struct State {
    std::unordered_map<T, Entry> entries;
    TimePoint next_sweep{};
  };

  [[nodiscard]] bool Forgotten(const Entry& entry, TimePoint now) const {
    return now > After(entry.last, idle_);
  }
  /// The entry of `key`, with no delay where there is none.
  [[nodiscard]] Entry Find(const T& key, TimePoint now);
  void Sweep(State& state, TimePoint now) const;

  const Duration initial_;
  const Duration max_;
  const BackoffOptions options_;
  const Duration idle_;
  Guarded<State> state_;
};

template <Item T>
Duration Backoff<T>::Next(const T& key) {
  const double longer = options_.jitter > 0 ? options_.jitter * options_.chance() : 0;
  const TimePoint now = options_.clock.Now();
  auto state = state_.Lock();
  if (now >= state->next_sweep) Sweep(*state, now);
  const auto [found, fresh] = state->entries.try_emplace(key);
  Entry& entry = found->second;
  const bool first = fresh || Forgotten(entry, now);
  entry.delay =
      std::min(first ? Scaled(initial_, 1 + longer) : Scaled(entry.delay, 2 + longer), max_);
  entry.last = now;
  return entry.delay;
}

template <Item T>
auto Backoff<T>::Find(const T& key, TimePoint now) -> Entry {
  auto state = state_.Lock();
  const auto found = state->entries.find(key);
  if (found == state->entries.end() || Forgotten(found->second, now)) return {};
  return found->second;
}

template <Item T>
void Backoff<T>::Sweep(State& state, TimePoint now) const {
  std::erase_if(state.entries, [&](const auto& entry) { return Forgotten(entry.second, now); });
  state.next_sweep = After(now, idle_);
}

}  // namespace kopp::workqueue
