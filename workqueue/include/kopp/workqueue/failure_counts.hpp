#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/item_table.hpp>

namespace kopp::workqueue {

/// 2 × `delay`, or the longest Duration there is; zero for a negative one.
constexpr Duration Twice(Duration delay) {
  if (delay <= Duration::zero()) return Duration::zero();
  return delay > Duration::max() / 2 ? Duration::max() : 2 * delay;
}

/// Failures by item, forgotten by themselves once idle for `idle`: the memory of keys that nobody
/// forgets stays bounded.
/// client-go: keeps them for ever.
template <Item T>
class FailureCounts {
 public:
  FailureCounts(Duration idle, Clock& clock) : idle_(idle), clock_(clock) {}

  /// The failures before this one.
  int Increment(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto counts = counts_.Lock();
    counts->table.Expect(hash);
    const TimePoint now = clock_.Now();
    if (now >= counts->next_sweep) Sweep(*counts, now);
    Count& count = counts->table[counts->table.Insert(item, hash).first];
    if (Stale(count, now)) count.failures = 0;
    count.last = now;
    return count.failures == kMany ? kMany : count.failures++;
  }

  void Forget(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto counts = counts_.Lock();
    const Handle handle = counts->table.Find(item, hash);
    if (handle == kNoHandle) return;
    counts->table.ExpectNext(handle);
    counts->table.Erase(handle);
  }

  [[nodiscard]] int Get(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    const TimePoint now = clock_.Now();
    auto counts = counts_.Lock();
    const Handle handle = counts->table.Find(item, hash);
    if (handle == kNoHandle) return 0;
    const Count& count = counts->table[handle];
    return Stale(count, now) ? 0 : count.failures;
  }

 private:
  static constexpr int kMany = std::numeric_limits<int>::max();
  struct Count {
    int failures = 0;
    TimePoint last{};
  };
  using Table = ItemTable<T, Count>;
  struct Counts {
    Table table;
    TimePoint next_sweep{};
  };

  [[nodiscard]] bool Stale(const Count& count, TimePoint now) const {
    return count.failures > 0 && now > After(count.last, idle_);
  }
  void Sweep(Counts& counts, TimePoint now) const {
    std::vector<Handle> stale;
    counts.table.ForEach([&](Handle handle) {
      if (Stale(counts.table[handle], now)) stale.push_back(handle);
      return true;
    });
    for (const Handle handle : stale) counts.table.Erase(handle);
    counts.next_sweep = After(now, idle_);
  }

  const Duration idle_;
  Clock& clock_;
  Guarded<Counts> counts_;
};

}  // namespace kopp::workqueue
