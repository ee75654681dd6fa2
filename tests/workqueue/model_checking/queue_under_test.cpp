#include "queue_under_test.hpp"

#include "queue_adapter.hpp"

namespace kopp::model_checking {
namespace {

const Implementations<QueueFactories> real_queues(
    "", MakeQueueFactories<workqueue::Queue<TestItem>, workqueue::DelayingQueue<TestItem>,
                           workqueue::QueueOptions>());

}  // namespace

std::unique_ptr<QueueUnderTest> MakeQueue(const OrderSpec& order) {
  return Implementations<QueueFactories>::Selected().queue(order);
}

std::unique_ptr<QueueUnderTest> MakeDelayingQueue(const OrderSpec& order, Clock& clock) {
  return Implementations<QueueFactories>::Selected().delaying_queue(order, clock);
}

}  // namespace kopp::model_checking
