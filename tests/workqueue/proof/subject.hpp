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

/// The queue under test behind virtual functions, each of which calls the queue's own. So only
/// subject.cpp is compiled anew for each bug that is planted in the headers.
class Subject {
 public:
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  virtual void Add(Key key, int priority) = 0;
  virtual void AddAfter(Key key, Duration delay, std::optional<int> priority) = 0;
  virtual std::optional<workqueue::Prioritized<Key>> Get(const std::stop_token& stop) = 0;
  virtual void Done(Key key) = 0;
  virtual std::size_t Len() = 0;
  virtual void ShutDown() = 0;
  virtual void ShutDownWithDrain() = 0;
  virtual workqueue::Snapshot<Key> TakeSnapshot() = 0;

 protected:
  Subject() = default;
};

/// A Queue; it has no AddAfter.
std::unique_ptr<Subject> MakeQueue(const Rules& rules);
/// A DelayingQueue, on `clock`.
std::unique_ptr<Subject> MakeDelayingQueue(const Rules& rules, Clock& clock);

}  // namespace kopp::proof
