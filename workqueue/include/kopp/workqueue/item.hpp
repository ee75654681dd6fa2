#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace kopp::workqueue {

/// What a queue can hold: a small value that names a piece of work, such as a kopp::ObjectKey.
/// Equal items have equal hashes. A copy may throw, a move may not: an item on its way to a worker
/// would be lost.
template <typename T>
concept Item = std::copyable<T> && std::is_nothrow_move_constructible_v<T> &&
               std::equality_comparable<T> && requires(const T& item) {
                 { std::hash<T>{}(item) } -> std::convertible_to<std::size_t>;
               };

/// An item and how far in front it goes, where the order of its queue has priorities.
template <Item T>
struct Prioritized {
  T item;
  int priority = 0;
};

}  // namespace kopp::workqueue
