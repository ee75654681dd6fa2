#pragma once

#include "implementations.hpp"
#include "queue_under_test.hpp"

#include <stdexcept>
#include <utility>

#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::model_checking {

/// Implements QueueUnderTest with the class `Queue`.
template <typename Queue>
class QueueAdapter final : public QueueUnderTest {
 public:
  template <typename QueueOptions>
  explicit QueueAdapter(QueueOptions options) : queue_(std::move(options)) {}

  void Add(TestItem item, int priority) override { queue_.Add(item, {.priority = priority}); }
  void AddAfter(TestItem item, Duration delay, std::optional<int> priority) override {
    if constexpr (requires { queue_.AddAfter(item, delay); }) {
      queue_.AddAfter(item, delay, {.priority = priority});
    } else {
      throw std::logic_error("a Queue has no AddAfter");
    }
  }
  std::optional<workqueue::QueuedItem<TestItem>> Get(const std::stop_token& stop) override {
    return queue_.GetWithPriority(stop);
  }
  void Done(TestItem item) override { queue_.Done(item); }
  std::size_t Len() override { return queue_.Len(); }
  void ShutDown() override { queue_.ShutDown(); }
  void ShutDownWithDrain() override { queue_.ShutDownWithDrain(); }
  workqueue::Snapshot<TestItem> TakeSnapshot() override { return queue_.TakeSnapshot(); }

 private:
  Queue queue_;
};

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): a false positive for std::any
template <typename Queue, typename DelayingQueue, typename QueueOptions>
constexpr QueueFactories MakeQueueFactories() {
  return {.queue = [](const OrderSpec& order) -> std::unique_ptr<QueueUnderTest> {
            return std::make_unique<QueueAdapter<Queue>>(QueueOptions{.order = order.QueueOrder()});
          },
          .delaying_queue = [](const OrderSpec& order,
                               Clock& clock) -> std::unique_ptr<QueueUnderTest> {
            return std::make_unique<QueueAdapter<DelayingQueue>>(
                QueueOptions{.clock = clock, .order = order.QueueOrder()});
          }};
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

/// Registers the copy of the queues in the namespace kopp::workqueue::bug: see planted/plant.cmake.
#define KOPP_REGISTER_COPY(bug)                                                                    \
  const Implementations<QueueFactories> bug(                                                       \
      #bug,                                                                                        \
      MakeQueueFactories<workqueue::bug::Queue<TestItem, workqueue::NoPayload>,                    \
                         workqueue::bug::DelayingQueue<TestItem, workqueue::NoPayload>,            \
                         workqueue::bug::QueueOptions>())

}  // namespace kopp::model_checking
