#pragma once

#include <any>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue {

/// Whose turn it is: what a fair queue asks of each item that is added. Called with no lock held,
/// from any thread that adds. Where it throws, the item is one of the tenant "", of weight 1: no
/// item is lost.
template <Item T>
struct FairShare {
  std::function<std::string(const T&)> tenant = {};  ///< such as the namespace of a key
  /// How many items in a row a tenant's turn is worth; default and least: 1.
  std::function<int(const std::string& tenant)> weight = {};
};

/// In which order a queue hands out what is ready. All orders deduplicate, drain and shut down
/// alike; an item in hand is in no order, and takes no turn.
///
///     Queue<ObjectKey> queue({.order = Order::Fair<ObjectKey>({.tenant = &ObjectKey::ns})});
class Order {
 public:
  /// First come, first served.
  Order() = default;

  /// The highest priority first; among equals, first come, first served, where what waited for its
  /// moment comes at that moment. An item that is added again keeps the higher of its priorities,
  /// and goes to the end of it when that raises it.
  static Order Priority() {
    Order order;
    order.by_priority_ = true;
    return order;
  }

  /// Within each priority, tenants take turns: an item of a tenant that has none ready waits for
  /// one turn of each of the others at the most, however much they have ready.
  template <Item T>
  static Order Fair(FairShare<T> share) {
    if (!share.tenant) throw std::invalid_argument("Order::Fair: say which tenant an item is of");
    Order order = Priority();
    order.share_ = std::move(share);
    return order;
  }

  [[nodiscard]] bool by_priority() const { return by_priority_; }

  /// Nothing where the order is not a fair one. Throws std::invalid_argument where it was made for
  /// items of another type.
  template <Item T>
  [[nodiscard]] FairShare<T> ShareFor() const {
    if (!share_.has_value()) return {};
    const auto* share = std::any_cast<FairShare<T>>(&share_);
    if (share == nullptr) throw std::invalid_argument("Order::Fair: the queue holds other items");
    return *share;
  }

 private:
  bool by_priority_ = false;
  std::any share_;  // a FairShare<T>
};

}  // namespace kopp::workqueue
