#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Decides which of many equal lines are written: see LogSampling. Equal lines have equal hashes.
/// Lines whose hashes collide are counted together, which matters only if both are frequent.
/// Thread-safe; concurrent calls at the start of a second may be counted in the one before.
class LogSampler {
 public:
  explicit LogSampler(LogSampling sampling) : sampling_(sampling) {}

  /// Returns the number of lines that were left out since the last one that was written, or nullopt
  /// if this line is to be left out.
  std::optional<std::uint64_t> Admit(std::size_t hash, TimePoint now) {
    if (sampling_.first <= 0) return 0;
    Slot& slot = slots_[hash % slots_.size()];
    const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    if (slot.second.exchange(second) != second) slot.lines = 0;
    if (IsWritten(++slot.lines)) return slot.suppressed.exchange(0);
    ++slot.suppressed;
    return std::nullopt;
  }

 private:
  struct Slot {
    std::atomic<std::int64_t> second{-1};
    std::atomic<std::int64_t> lines{0};  // in this second
    std::atomic<std::uint64_t> suppressed{0};
  };

  // `number` counts the lines of a second from 1.
  [[nodiscard]] bool IsWritten(std::int64_t number) const {
    if (number <= sampling_.first) return true;
    return sampling_.thereafter > 0 && (number - sampling_.first) % sampling_.thereafter == 0;
  }

  const LogSampling sampling_;
  std::array<Slot, 512> slots_{};
};

}  // namespace kopp::detail
