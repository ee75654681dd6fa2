#pragma once

/// Defines the queue of a controller. Include it to call its functions.

#include <kopp/controller/event_queue.hpp>
#include <kopp/workqueue/coalescing_queue.hpp>

// Instantiated once, in controller_queue.cpp, to reduce the compile time of programs.
// NOLINTBEGIN(clang-analyzer-optin.performance.Padding): see Queue
extern template class kopp::workqueue::Queue<kopp::ObjectKey, kopp::QueuedReasons>;
extern template class kopp::workqueue::DelayingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
extern template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
extern template class kopp::workqueue::CoalescingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
// NOLINTEND(clang-analyzer-optin.performance.Padding)
