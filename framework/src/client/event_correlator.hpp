#pragma once

#include "client/lru_map.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <kopp/events.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// One call of EventRecorder::Normal or Warning.
struct Occurrence {
  std::string type = {};
  ObjectReference object = {};
  std::string reason = {};
  std::string message = {};
  WallTime time = {};
};

/// Aggregates equal occurrences into one Event, and limits the rate of Events for each object.
/// Remembers the 4096 Events and objects that were used last. Not thread-safe.
class EventCorrelator {
 public:
  struct Entry {
    std::string name;  ///< metadata.name of the Event
    WallTime first_time{};
    int count = 0;  ///< number of equal occurrences so far, including this one
  };

  /// `clock` must outlive the correlator.
  explicit EventCorrelator(Clock& clock) : clock_(clock) {}

  /// Counts `occurrence`. Returns the Event to create (count 1) or to update (count > 1), or
  /// nullopt if the budget of the object is used up.
  std::optional<Entry> Count(const Occurrence& occurrence);

 private:
  static constexpr std::size_t kCapacity = 4096;
  struct Budget {
    double events;  // the number of Events that may be written now
    TimePoint updated;
  };
  /// Takes one Event from the budget of `object`. Returns false if it is used up.
  bool SpendBudget(const ObjectReference& object);

  Clock& clock_;
  LruMap<std::string, Entry> entries_{kCapacity};   // by all fields of the occurrence but its time
  LruMap<std::string, Budget> budgets_{kCapacity};  // by object
};

}  // namespace kopp
