#include <kopp/informer/key_queue.hpp>

template class kopp::workqueue::Queue<kopp::ObjectKey>;
template class kopp::workqueue::DelayingQueue<kopp::ObjectKey>;
template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey>;
