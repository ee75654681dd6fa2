#pragma once

#include "lru_map.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <kopp/events.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Something that happened to an object.
struct Occurrence {
  std::string type = {};
  ObjectReference about = {};
  std::string reason = {};
  std::string message = {};
  WallTime at = {};
};

/// Decides which Event an occurrence belongs to, and whether there are too many. Used by one
/// thread.
class EventCorrelator {
 public:
  struct Entry {
    std::string name;  ///< of the Event
    WallTime first{};
    int count = 0;  ///< of the same occurrences so far, this one included
  };

  /// `clock` outlives the correlator.
  explicit EventCorrelator(Clock& clock) : clock_(clock) {}

  /// The Event to make (count 1) or to raise; nullopt for an occurrence that is one too many.
  std::optional<Entry> Count(const Occurrence& occurrence);

 private:
  static constexpr std::size_t kMost = 4096;
  struct Budget {
    double events;  // that may still be written about the object
    TimePoint filled;
  };
  bool Spend(const ObjectReference& about);

  Clock& clock_;
  LruMap<std::string, Entry> entries_{kMost};   // by everything but the time
  LruMap<std::string, Budget> budgets_{kMost};  // by object
};

}  // namespace kopp
