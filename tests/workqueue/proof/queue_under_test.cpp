#include "queue_under_test.hpp"

#include "queue_adapter.hpp"

namespace kopp::proof {
namespace {

const Implementations<QueueFactories> real_queues(
    "", MakeQueueFactories<workqueue::Queue<Key>, workqueue::DelayingQueue<Key>,
                           workqueue::QueueOptions>());

}  // namespace

std::unique_ptr<QueueUnderTest> MakeQueue(const Rules& rules) {
  return Implementations<QueueFactories>::Selected().queue(rules);
}

std::unique_ptr<QueueUnderTest> MakeDelayingQueue(const Rules& rules, Clock& clock) {
  return Implementations<QueueFactories>::Selected().delaying_queue(rules, clock);
}

}  // namespace kopp::proof
