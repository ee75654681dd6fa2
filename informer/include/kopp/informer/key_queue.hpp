#pragma once

/// Defines the queues of object keys. Include it to call the queue of a controller, or to create a
/// queue for the handlers in handlers.hpp.

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

// Instantiated once, in key_queue.cpp, to reduce the compile time of programs.
// NOLINTBEGIN(clang-analyzer-optin.performance.Padding): see Queue
extern template class kopp::workqueue::Queue<kopp::ObjectKey>;
extern template class kopp::workqueue::DelayingQueue<kopp::ObjectKey>;
extern template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey>;
// NOLINTEND(clang-analyzer-optin.performance.Padding)
