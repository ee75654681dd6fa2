#pragma once

#include "client/lru_map.hpp"
#include "event_request.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include <kopp/events.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Writes Events of the API core/v1, with the rules of EventCorrelator in client-go's tools/record:
/// equal occurrences increment the count of one Event, occurrences that differ only in the message
/// are combined from the tenth one, and each object has a budget. Remembers the 4096 Events and
/// objects that were used last. Not thread-safe.
class EventCorrelator final : public EventAggregator {
 public:
  /// `clock` must outlive the correlator.
  EventCorrelator(EventReporter reporter, Clock& clock)
      : reporter_(std::move(reporter)), clock_(clock) {}

  [[nodiscard]] const Kind& kind() const override;
  /// Returns nullopt if the budget of the object is used up.
  std::optional<EventRequest> Add(const Occurrence& occurrence) override;
  void Rename(EventRequest& request) override;

 private:
  static constexpr std::size_t kCapacity = 4096;
  struct Entry {
    ObjectKey key;  // of the Event
    WallTime first_time{};
    int count = 0;
  };
  /// The recent occurrences that differ only in the message.
  struct Similar {
    std::unordered_set<std::size_t> messages{};  // their hashes
    TimePoint last{};
  };
  struct Budget {
    double events;  // the number of Events that may be written now
    TimePoint updated;
  };
  /// Returns whether there are so many similar occurrences that this one is combined with them.
  bool IsCombined(const std::string& similarity, const std::string& message);
  /// Takes one Event from the budget of `object`. Returns false if it is used up.
  bool SpendBudget(const ObjectReference& object);
  [[nodiscard]] nlohmann::json Body(const Occurrence& occurrence, const Entry& entry,
                                    const std::string& message) const;

  EventReporter reporter_;
  Clock& clock_;
  EventKeys keys_;
  LruMap<std::string, Similar> similar_{kCapacity};  // by all fields but message and time
  LruMap<std::string, Entry> entries_{kCapacity};    // the same, and the message if not combined
  LruMap<std::string, Budget> budgets_{kCapacity};   // by object
};

}  // namespace kopp
