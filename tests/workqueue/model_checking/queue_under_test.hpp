#pragma once

#include "model.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::model_checking {

/// The interface of a queue. The same tests run with the real queue and with copies that contain a
/// planted bug: see Implementations. Each function calls the queue's function of the same name.
class QueueUnderTest {
 public:
  virtual ~QueueUnderTest() = default;
  QueueUnderTest(const QueueUnderTest&) = delete;
  QueueUnderTest& operator=(const QueueUnderTest&) = delete;

  virtual void Add(TestItem item, int priority) = 0;
  virtual void AddAfter(TestItem item, Duration delay, std::optional<int> priority) = 0;
  virtual std::optional<workqueue::QueuedItem<TestItem>> Get(const std::stop_token& stop) = 0;
  virtual void Done(TestItem item) = 0;
  virtual std::size_t Len() = 0;
  virtual void ShutDown() = 0;
  virtual void ShutDownWithDrain() = 0;
  virtual workqueue::Snapshot<TestItem> TakeSnapshot() = 0;

 protected:
  QueueUnderTest() = default;
};

/// Functions that create the queues of one implementation.
struct QueueFactories {
  std::unique_ptr<QueueUnderTest> (*queue)(const OrderSpec& order);
  std::unique_ptr<QueueUnderTest> (*delaying_queue)(const OrderSpec& order, Clock& clock);
};

/// Creates a Queue of the selected implementation; its AddAfter throws.
std::unique_ptr<QueueUnderTest> MakeQueue(const OrderSpec& order);
/// Creates a DelayingQueue of the selected implementation.
std::unique_ptr<QueueUnderTest> MakeDelayingQueue(const OrderSpec& order, Clock& clock);

}  // namespace kopp::model_checking
