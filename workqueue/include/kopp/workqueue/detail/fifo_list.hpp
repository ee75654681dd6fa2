#pragma once

#include <functional>
#include <optional>

#include <kopp/workqueue/detail/ready_list.hpp>

namespace kopp::workqueue::detail {

/// Returns the ready items first in, first out, and ignores ranks. It is a linked list that uses
/// the member `next` of the values in `Table`, so it allocates no memory.
template <typename Table>
class FifoList final : public ReadyList {
 public:
  /// `table` must outlive this object.
  explicit FifoList(Table& table) : table_(table) {}

  void Push(Handle handle, const Rank&) noexcept override { PushDeferred(handle); }
  std::optional<int> Raise(Handle, const Rank&) noexcept override { return std::nullopt; }
  void Defer(Handle, const Rank&) noexcept override {}
  void PushDeferred(Handle handle) noexcept override {
    table_[handle].next = kNoHandle;
    if (front_ == kNoHandle) {
      front_ = handle;
    } else {
      table_[back_].next = handle & kNoHandle;  // the mask tells -Wconversion that 29 bits suffice
    }
    back_ = handle;
  }

  [[nodiscard]] Handle Front() const override { return front_; }
  void PopFront() noexcept override { front_ = table_[front_].next; }
  [[nodiscard]] int PriorityOf(Handle) const override { return 0; }
  void ForEach(const std::function<bool(Handle)>& visit) const override {
    for (Handle handle = front_; handle != kNoHandle && visit(handle);) {
      handle = table_[handle].next;
    }
  }
  void ReleaseMemory() override {}

 private:
  Table& table_;
  Handle front_ = kNoHandle;
  Handle back_ = kNoHandle;  // meaningless while the list is empty
};

}  // namespace kopp::workqueue::detail
