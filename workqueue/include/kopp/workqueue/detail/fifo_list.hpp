#pragma once

#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::workqueue::detail {

/// The ready items of a queue, first in, first out. It is a linked list that uses the member `next`
/// of the values in `Table`, so it allocates no memory. Not thread-safe.
template <typename Table>
class FifoList {
 public:
  /// `table` must outlive this object.
  explicit FifoList(Table& table) : table_(table) {}

  void Push(Handle handle) noexcept {
    table_[handle].next = kNoHandle;
    if (front_ == kNoHandle) {
      front_ = handle;
    } else {
      table_[back_].next = handle & kNoHandle;  // the mask tells -Wconversion that 30 bits suffice
    }
    back_ = handle;
  }

  /// Returns the oldest item. Requires: an item is ready.
  [[nodiscard]] Handle Front() const { return front_; }
  /// Removes the oldest item. Requires: an item is ready.
  void PopFront() noexcept {
    front_ = table_[front_].next;
    if (front_ != kNoHandle) table_.PrefetchSlotOf(front_);  // for its Done
  }

  /// Calls visit(handle) for each item, the oldest first, until it returns false.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (Handle handle = front_; handle != kNoHandle && visit(handle);) {
      handle = table_[handle].next;
    }
  }

 private:
  Table& table_;
  Handle front_ = kNoHandle;
  Handle back_ = kNoHandle;  // meaningless while the list is empty
};

}  // namespace kopp::workqueue::detail
