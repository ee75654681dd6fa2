#pragma once

#include "model.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/item.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::proof {

/// A queue behind virtual functions that call the functions of the same name: see Implementations.
class QueueUnderTest {
 public:
  virtual ~QueueUnderTest() = default;
  QueueUnderTest(const QueueUnderTest&) = delete;
  QueueUnderTest& operator=(const QueueUnderTest&) = delete;

  virtual void Add(Key key, int priority) = 0;
  virtual void AddAfter(Key key, Duration delay, std::optional<int> priority) = 0;
  virtual std::optional<workqueue::Prioritized<Key>> Get(const std::stop_token& stop) = 0;
  virtual void Done(Key key) = 0;
  virtual std::size_t Len() = 0;
  virtual void ShutDown() = 0;
  virtual void ShutDownWithDrain() = 0;
  virtual workqueue::Snapshot<Key> TakeSnapshot() = 0;

 protected:
  QueueUnderTest() = default;
};

struct QueueFactories {
  std::unique_ptr<QueueUnderTest> (*queue)(const Rules& rules);
  std::unique_ptr<QueueUnderTest> (*delaying_queue)(const Rules& rules, Clock& clock);
};

/// Creates a Queue of the selected implementation; its AddAfter throws.
std::unique_ptr<QueueUnderTest> MakeQueue(const Rules& rules);
/// Creates a DelayingQueue of the selected implementation.
std::unique_ptr<QueueUnderTest> MakeDelayingQueue(const Rules& rules, Clock& clock);

}  // namespace kopp::proof
