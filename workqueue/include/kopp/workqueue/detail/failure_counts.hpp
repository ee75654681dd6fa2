#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::workqueue::detail {

/// The number of failures of each item. Thread-safe. An item that did not fail for longer than
/// `idle` expires, so that items without a Forget use bounded memory.
/// client-go: never removes an item without a Forget.
template <Item T>
class FailureCounts {
 public:
  FailureCounts(Duration idle, Clock& clock) : idle_(idle), clock_(clock) {}

  /// Counts one failure. Returns the number of failures before this one.
  int Increment(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto counts = counts_.Lock();
    const TimePoint now = clock_.Now();
    if (now >= counts->next_cleanup) RemoveExpired(*counts, now);
    Count& count = counts->table[counts->table.Insert(item, hash).first];
    if (Expired(count, now)) count.failures = 0;
    count.last = now;
    return count.failures == kMaxFailures ? kMaxFailures : count.failures++;
  }

  void Forget(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    auto counts = counts_.Lock();
    const Handle handle = counts->table.Find(item, hash);
    if (handle == kNoHandle) return;
    counts->table.Erase(handle);
  }

  [[nodiscard]] int Get(const T& item) {
    const std::uint32_t hash = Table::Hash(item, this);
    const TimePoint now = clock_.Now();
    auto counts = counts_.Lock();
    const Handle handle = counts->table.Find(item, hash);
    if (handle == kNoHandle) return 0;
    const Count& count = counts->table[handle];
    return Expired(count, now) ? 0 : count.failures;
  }

 private:
  static constexpr int kMaxFailures = std::numeric_limits<int>::max();
  struct Count {
    int failures = 0;
    TimePoint last{};  // of the failures
  };
  using Table = ItemTable<T, Count>;
  struct Counts {
    Table table;
    TimePoint next_cleanup{};
  };

  [[nodiscard]] bool Expired(const Count& count, TimePoint now) const {
    return count.failures > 0 && now > After(count.last, idle_);
  }
  void RemoveExpired(Counts& counts, TimePoint now) const {
    std::vector<Handle> expired;
    counts.table.ForEach([&](Handle handle) {
      if (Expired(counts.table[handle], now)) expired.push_back(handle);
      return true;
    });
    for (const Handle handle : expired) counts.table.Erase(handle);
    counts.next_cleanup = After(now, idle_);
  }

  const Duration idle_;
  Clock& clock_;
  Guarded<Counts> counts_;
};

}  // namespace kopp::workqueue::detail
