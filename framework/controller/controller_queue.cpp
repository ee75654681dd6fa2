#include "controller/controller_queue.hpp"

template class kopp::workqueue::Queue<kopp::ObjectKey, kopp::QueuedReasons>;
template class kopp::workqueue::DelayingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
template class kopp::workqueue::CoalescingQueue<kopp::ObjectKey, kopp::QueuedReasons>;
