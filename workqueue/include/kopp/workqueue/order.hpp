#pragma once

#include <any>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue {

/// Defines how a fair queue assigns items to tenants. The queue calls these functions for each item
/// that is added, on the thread that adds it and without holding a lock; they must be thread-safe.
/// If a function throws, the item belongs to the tenant "" with weight 1, so that no item is lost.
template <Item T>
struct FairShare {
  std::function<std::string(const T&)> tenant = {};  ///< returns an item's tenant; must be set
  /// The number of consecutive items in a tenant's turn; the default and the minimum are 1.
  std::function<int(const std::string& tenant)> weight = {};
};

/// The order in which a queue returns its ready items. Deduplication, draining and shutdown are the
/// same for all orders. An item that is being processed has no place in the order and uses no turn.
///
///     Queue<ObjectKey> queue({.order = Order::Fair<ObjectKey>({.tenant = &ObjectKey::ns})});
class Order {
 public:
  /// Creates the order first in, first out.
  Order() = default;

  /// Creates the order by priority, the highest first. Items of the same priority are first in,
  /// first out. A delayed item counts as added when its delay has passed. A ready item that is
  /// added again keeps the higher of both priorities; if that raises its priority, it moves to the
  /// end of the new priority.
  ///
  /// Low priorities do not starve: while items of several priorities are ready, at least every
  /// tenth item is not of the highest of them. These turns go to the lower priorities one after
  /// another.
  static Order Priority() {
    Order order;
    order.by_priority_ = true;
    return order;
  }

  /// Creates the order by priority in which the tenants of each priority take turns. Among the
  /// items of one priority, an item of a tenant that has no other ready items waits for at most one
  /// turn of each other tenant. Throws std::invalid_argument if share.tenant is empty.
  template <Item T>
  static Order Fair(FairShare<T> share) {
    if (!share.tenant) throw std::invalid_argument("Order::Fair: FairShare::tenant is empty");
    Order order = Priority();
    order.share_ = std::move(share);
    return order;
  }

  /// Returns whether the order has priorities.
  [[nodiscard]] bool by_priority() const { return by_priority_; }

  /// Returns the FairShare of a fair order, or an empty FairShare if the order is not fair. Throws
  /// std::invalid_argument if the FairShare is for another type of item.
  template <Item T>
  [[nodiscard]] FairShare<T> ShareFor() const {
    if (!share_.has_value()) return {};
    const auto* share = std::any_cast<FairShare<T>>(&share_);
    if (share == nullptr)
      throw std::invalid_argument(
          "Order::Fair: the FairShare is for another type of item than the queue");
    return *share;
  }

 private:
  bool by_priority_ = false;
  std::any share_;  // a FairShare<T>
};

}  // namespace kopp::workqueue
