#pragma once

#include <functional>
#include <optional>
#include <string>

#include <kopp/workqueue/detail/item_table.hpp>

namespace kopp::workqueue::detail {

/// The priority and the tenant of an item. They determine its position among the ready items.
struct Rank {
  int priority = 0;
  std::string tenant = {};
  int weight = 1;  ///< the number of consecutive items in the tenant's turn
};

/// The ready items of a queue, in the order in which Get returns them. FifoList and PriorityLists
/// implement it. Items are identified by their handles. Not thread-safe. Running out of memory in a
/// noexcept function terminates the process, because otherwise the queue would lose an item.
class ReadyList {
 public:
  ReadyList() = default;
  virtual ~ReadyList() = default;
  ReadyList(const ReadyList&) = delete;
  ReadyList& operator=(const ReadyList&) = delete;

  /// Adds an item.
  virtual void Push(Handle handle, const Rank& rank) noexcept = 0;

  /// Updates a ready item that was added again. If `rank` has a higher priority, moves the item to
  /// the end of that priority and returns the previous priority; otherwise returns nullopt.
  virtual std::optional<int> Raise(Handle handle, const Rank& rank) noexcept = 0;

  /// Stores `rank` for an item that was added while it is being processed. If it is called again
  /// before PushDeferred, the rank with the higher priority is kept.
  virtual void Defer(Handle handle, const Rank& rank) noexcept = 0;
  /// Adds an item with the rank that Defer stored.
  virtual void PushDeferred(Handle handle) noexcept = 0;

  /// Returns the next item. Requires: an item is ready.
  [[nodiscard]] virtual Handle Front() const = 0;
  /// Removes the next item. Requires: an item is ready.
  virtual void PopFront() noexcept = 0;

  /// Returns the priority of a ready item. For an item in processing, returns its priority at
  /// PopFront.
  [[nodiscard]] virtual int PriorityOf(Handle handle) const = 0;

  /// Calls visit(handle) for each ready item, by priority, then by tenant, then oldest first, until
  /// `visit` returns false. If there are several tenants or priorities, Get uses another order,
  /// because they take turns.
  virtual void ForEach(const std::function<bool(Handle)>& visit) const = 0;

  /// Frees memory if its capacity is large. Requires: no item is ready, deferred or being
  /// processed.
  virtual void ReleaseMemory() = 0;
};

}  // namespace kopp::workqueue::detail
