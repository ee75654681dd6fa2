#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace kopp::informer::detail {

/// A hash table of numbers whose keys are stored elsewhere. It takes 8 bytes for a number, and its
/// load is at most 3/4. Not thread-safe.
class NumberIndex {
 public:
  /// Returns the number with this hash for which matches(number) is true.
  template <typename Matches>
  [[nodiscard]] std::optional<std::uint32_t> Find(std::uint32_t hash, Matches matches) const {
    if (size_ == 0) return std::nullopt;
    for (std::size_t i = Home(hash); slots_[i].hash != 0; i = Next(i)) {
      if (slots_[i].hash == (hash | kUsed) && matches(slots_[i].number)) return slots_[i].number;
    }
    return std::nullopt;
  }

  /// Requires that the number is not in the index.
  void Insert(std::uint32_t hash, std::uint32_t number) {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
    Place({hash | kUsed, number});
    ++size_;
  }

  /// Requires that the number is in the index with this hash.
  void Erase(std::uint32_t hash, std::uint32_t number) {
    std::size_t hole = Home(hash);
    while (slots_[hole].hash == 0 || slots_[hole].number != number) hole = Next(hole);
    // Close the gap: move up each following slot that may be stored at the gap.
    for (std::size_t i = Next(hole); slots_[i].hash != 0; i = Next(i)) {
      const std::size_t distance = (i - slots_[i].hash) & Mask();  // from its preferred slot
      if (distance < ((i - hole) & Mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
    if (--size_ == 0) slots_ = {};
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;  // with kUsed; 0: the slot is free
    std::uint32_t number = 0;
  };
  static constexpr std::uint32_t kUsed = 0x8000'0000;
  static constexpr std::size_t kMinSlots = 16;

  [[nodiscard]] std::size_t Mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t Home(std::uint32_t hash) const { return hash & Mask(); }
  [[nodiscard]] std::size_t Next(std::size_t slot) const { return (slot + 1) & Mask(); }

  void Place(const Slot& slot) {
    std::size_t i = Home(slot.hash);
    while (slots_[i].hash != 0) i = Next(i);
    slots_[i] = slot;
  }
  void Grow() {
    std::vector<Slot> previous(std::max(kMinSlots, slots_.size() * 2));
    previous.swap(slots_);
    for (const Slot& slot : previous) {
      if (slot.hash != 0) Place(slot);
    }
  }

  std::vector<Slot> slots_;  // their number is a power of two
  std::size_t size_ = 0;
};

}  // namespace kopp::informer::detail
