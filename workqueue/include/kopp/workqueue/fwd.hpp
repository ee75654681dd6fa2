#pragma once

/// Declares the queues without their definitions, which take half a second to compile. Include it
/// in headers that only refer to a queue.

#include <kopp/workqueue/item.hpp>

namespace kopp::workqueue {

template <Item T>
class Queue;
template <Item T>
class DelayingQueue;
template <Item T>
class RateLimitingQueue;

}  // namespace kopp::workqueue
