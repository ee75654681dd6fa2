#pragma once

#include "implementations.hpp"
#include "queue_under_test.hpp"

#include <stdexcept>
#include <utility>

#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::proof {

/// Implements QueueUnderTest with a `Queue`.
template <typename Queue>
class QueueAdapter final : public QueueUnderTest {
 public:
  template <typename QueueOptions>
  explicit QueueAdapter(QueueOptions options) : queue_(std::move(options)) {}

  void Add(Key key, int priority) override { queue_.Add(key, priority); }
  void AddAfter(Key key, Duration delay, std::optional<int> priority) override {
    if constexpr (requires { queue_.AddAfter(key, delay, priority); }) {
      queue_.AddAfter(key, delay, priority);
    } else {
      throw std::logic_error("a Queue has no AddAfter");
    }
  }
  std::optional<workqueue::Prioritized<Key>> Get(const std::stop_token& stop) override {
    return queue_.GetWithPriority(stop);
  }
  void Done(Key key) override { queue_.Done(key); }
  std::size_t Len() override { return queue_.Len(); }
  void ShutDown() override { queue_.ShutDown(); }
  void ShutDownWithDrain() override { queue_.ShutDownWithDrain(); }
  workqueue::Snapshot<Key> TakeSnapshot() override { return queue_.TakeSnapshot(); }

 private:
  Queue queue_;
};

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): does not understand std::any
template <typename Queue, typename DelayingQueue, typename QueueOptions>
constexpr QueueFactories MakeQueueFactories() {
  return {
      .queue = [](const Rules& rules) -> std::unique_ptr<QueueUnderTest> {
        return std::make_unique<QueueAdapter<Queue>>(QueueOptions{.order = rules.QueueOrder()});
      },
      .delaying_queue = [](const Rules& rules, Clock& clock) -> std::unique_ptr<QueueUnderTest> {
        return std::make_unique<QueueAdapter<DelayingQueue>>(
            QueueOptions{.clock = clock, .order = rules.QueueOrder()});
      }};
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

/// Registers the copy of the queues in the namespace kopp::workqueue::bug: see planted/plant.cmake.
#define KOPP_REGISTER_COPY(bug)                                                                \
  const Implementations<QueueFactories> bug(                                                   \
      #bug, MakeQueueFactories<workqueue::bug::Queue<Key>, workqueue::bug::DelayingQueue<Key>, \
                               workqueue::bug::QueueOptions>())

}  // namespace kopp::proof
