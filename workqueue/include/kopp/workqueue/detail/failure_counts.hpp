#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/detail/spin_guarded.hpp>

namespace kopp::workqueue::detail {

/// The number of failures of each item. Thread-safe. An item expires when more than `idle_timeout`
/// has passed since its last failure, so the memory stays bounded even if Forget is not called.
/// client-go, in contrast, keeps an item until Forget is called.
template <Item T>
class FailureCounts {
 public:
  FailureCounts(Duration idle_timeout, Clock& clock) : idle_timeout_(idle_timeout), clock_(clock) {}

  /// Counts one failure. Returns the number of failures before this one.
  int Increment(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto state = state_.Lock();
    state->table.PrefetchSlot(hash);
    const TimePoint now = clock_.Now();
    if (now >= state->next_cleanup) RemoveExpired(*state, now);
    Failures& failures = state->table[state->table.Insert(item, hash).first];
    if (Expired(failures, now)) failures.count = 0;
    failures.last_time = now;
    return failures.count == kMaxFailures ? kMaxFailures : failures.count++;
  }

  /// Resets the number of failures of `item` to 0.
  void Forget(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto state = state_.Lock();
    const Handle handle = state->table.Find(item, hash);
    if (handle == kNoHandle) return;
    state->table.PrefetchSlotAfter(handle);
    state->table.Erase(handle);
  }

  /// Returns the number of failures of `item` since its last Forget or expiry.
  [[nodiscard]] int Get(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    const TimePoint now = clock_.Now();
    auto state = state_.Lock();
    const Handle handle = state->table.Find(item, hash);
    if (handle == kNoHandle) return 0;
    const Failures& failures = state->table[handle];
    return Expired(failures, now) ? 0 : failures.count;
  }

 private:
  static constexpr int kMaxFailures = std::numeric_limits<int>::max();
  struct Failures {
    int count = 0;
    TimePoint last_time{};  // the time of the last failure
  };
  using Table = ItemTable<T, Failures>;
  struct State {
    Table table;
    TimePoint next_cleanup{};
  };

  [[nodiscard]] bool Expired(const Failures& failures, TimePoint now) const {
    return failures.count > 0 && now > SaturatingAdd(failures.last_time, idle_timeout_);
  }
  void RemoveExpired(State& state, TimePoint now) const {
    std::vector<Handle> expired;
    state.table.ForEach([&](Handle handle) {
      if (Expired(state.table[handle], now)) expired.push_back(handle);
      return true;
    });
    for (const Handle handle : expired) state.table.Erase(handle);
    state.next_cleanup = SaturatingAdd(now, idle_timeout_);
  }

  const Duration idle_timeout_;
  Clock& clock_;
  SpinGuarded<State> state_;
};

}  // namespace kopp::workqueue::detail
