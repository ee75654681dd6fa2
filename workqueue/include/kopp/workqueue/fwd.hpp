#pragma once

/// Declares the queues without their definitions, which take half a second to compile. Include it
/// in headers that only refer to a queue.

#include <kopp/workqueue/item.hpp>
#include <kopp/workqueue/payload.hpp>

namespace kopp::workqueue {

template <Item T, QueuePayload Payload = NoPayload>
class Queue;
template <Item T, QueuePayload Payload = NoPayload>
class DelayingQueue;
template <Item T, QueuePayload Payload = NoPayload>
class RateLimitingQueue;
template <Item T, QueuePayload Payload = NoPayload>
class CoalescingQueue;

}  // namespace kopp::workqueue
