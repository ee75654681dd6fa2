#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace kopp::detail {

/// Limits the bytes that several holders have together. Thread-safe.
class ByteBudget {
 public:
  explicit ByteBudget(std::size_t limit) : limit_(limit) {}

  /// Returns whether `bytes` more would not exceed the limit.
  [[nodiscard]] bool Fits(std::size_t bytes) const { return bytes <= limit_ - used_; }
  /// Returns false, and adds nothing, if `bytes` more would exceed the limit.
  [[nodiscard]] bool Add(std::size_t bytes) {
    std::size_t used = used_;
    do {
      if (bytes > limit_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void Remove(std::size_t bytes) { used_ -= bytes; }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;  // never more than limit_
};

/// The bytes of a ByteBudget that one holder has. The destructor frees them. Not thread-safe, but
/// it may be moved to another thread.
class HeldBytes {
 public:
  /// `budget` may be null: then there is no limit.
  explicit HeldBytes(std::shared_ptr<ByteBudget> budget = nullptr) : budget_(std::move(budget)) {}
  HeldBytes(HeldBytes&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldBytes() {
    if (budget_) budget_->Remove(bytes_);
  }

  /// Returns whether the budget has room for `bytes` more.
  [[nodiscard]] bool HasRoomFor(std::size_t bytes) const {
    return !budget_ || budget_->Fits(bytes);
  }
  /// Holds `total` bytes, at least as many as before. Returns false if the budget has no room.
  [[nodiscard]] bool Grow(std::size_t total) {
    if (budget_ && !budget_->Add(total - bytes_)) return false;
    bytes_ = total;
    return true;
  }

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::size_t bytes_ = 0;
};

}  // namespace kopp::detail
