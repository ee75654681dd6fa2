#pragma once

#include <functional>
#include <optional>
#include <string>

#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::workqueue::detail {

/// Determines where an item goes among the ready items.
struct Rank {
  int priority = 0;
  std::string tenant = {};
  int weight = 1;  ///< of the tenant
};

/// The ready items of a queue in the order in which Get returns them: FifoOrder or PriorityLists.
/// Items are identified by their handles. Not thread-safe. Running out of memory in a noexcept
/// function terminates the process, because otherwise the queue would lose an item.
class ReadyOrder {
 public:
  ReadyOrder() = default;
  virtual ~ReadyOrder() = default;
  ReadyOrder(const ReadyOrder&) = delete;
  ReadyOrder& operator=(const ReadyOrder&) = delete;

  /// Adds an item.
  virtual void Push(Handle handle, const Rank& rank) noexcept = 0;

  /// A ready item was added again. If `rank` has a higher priority, moves the item to the end of
  /// that priority and returns the previous one.
  virtual std::optional<int> Raise(Handle handle, const Rank& rank) noexcept = 0;

  /// An item was added while it is being processed: stores the highest of these ranks.
  virtual void Defer(Handle handle, const Rank& rank) noexcept = 0;
  /// Adds an item with the rank that Defer stored.
  virtual void PushDeferred(Handle handle) noexcept = 0;

  /// The next item. Requires: an item is ready.
  [[nodiscard]] virtual Handle Front() const = 0;
  /// Removes the next item. Requires: an item is ready.
  virtual void PopFront() noexcept = 0;

  /// The priority of a ready item, or the one that an item in processing had when it was popped.
  [[nodiscard]] virtual int PriorityOf(Handle handle) const = 0;

  /// Calls visit(handle) for the ready items in their order until it returns false. Items of
  /// different tenants are not interleaved.
  virtual void ForEach(const std::function<bool(Handle)>& visit) const = 0;

  /// Requires: no item is ready, deferred or being processed.
  virtual void ReleaseMemory() = 0;
};

}  // namespace kopp::workqueue::detail
