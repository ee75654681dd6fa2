#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/payload.hpp>

namespace kopp::workqueue {

/// The requirements for the items of a queue. Items should be small values that identify work, such
/// as kopp::ObjectKey. Equal items must have equal hashes. Copying may throw. Moving must not
/// throw; otherwise Get could lose an item.
///
/// A queue copies, compares and destroys items while it holds its lock, so these operations must
/// not call the queue. std::hash must be thread-safe.
template <typename T>
concept Item = std::copyable<T> && std::is_nothrow_move_constructible_v<T> &&
               std::equality_comparable<T> && requires(const T& item) {
                 { std::hash<T>{}(item) } -> std::convertible_to<std::size_t>;
               };

/// An item that GetWithPriority returns.
template <Item T, QueuePayload Payload = NoPayload>
struct QueuedItem {
  T item;
  int priority = 0;   ///< 0 if the queue's order has no priorities
  Duration waited{};  ///< from the first Add since the last Get; 0 unless the queue tracks times
  [[no_unique_address]] Payload payload = {};  ///< the merged payloads of the Adds since then
};

}  // namespace kopp::workqueue
