#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace kopp::workqueue {

/// The requirements for the payload of a queue: data about the Adds of an item, for example why it
/// was added. The queue keeps one payload per item until the next Get, which returns it.
/// `payload.Merge(later)` adds the payload of a later Add of the same item.
///
/// The queue moves, merges, copies and destroys payloads while it holds its lock, so these
/// operations must not block and must not call the queue. Only copying may throw; it is used for
/// snapshots.
template <typename T>
concept QueuePayload =
    std::copyable<T> && std::is_nothrow_default_constructible_v<T> &&
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    requires(T& payload, T& later) {
      { payload.Merge(std::move(later)) } noexcept;
    };

/// The payload of a queue without payloads. The queue stores nothing for it.
struct NoPayload {
  void Merge(NoPayload&&) noexcept {}
};

}  // namespace kopp::workqueue
