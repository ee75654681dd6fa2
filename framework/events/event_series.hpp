#pragma once

#include "client/lru_map.hpp"
#include "event_request.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/events.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Writes Events of the API events.k8s.io/v1, with the rules of client-go's tools/events:
/// occurrences that differ only in the message form a series. The second one starts the series; its
/// count is then written every 30 minutes, and 6 to 12 minutes after the last occurrence, when the
/// series ends. The message is that of the first occurrence. Remembers the 4096 series that were
/// used last. Not thread-safe.
class EventSeries final : public EventAggregator {
 public:
  /// `clock` must outlive this object.
  EventSeries(EventReporter reporter, Clock& clock)
      : reporter_(std::move(reporter)), clock_(clock) {}

  [[nodiscard]] const Kind& kind() const override;
  std::optional<EventRequest> Add(const Occurrence& occurrence) override;
  [[nodiscard]] TimePoint NextDue() const override;
  std::vector<EventRequest> TakeDue() override;
  std::vector<EventRequest> TakeAll() override;
  void Rename(EventRequest& request) override;

 private:
  struct Series {
    ObjectKey key;  // of the Event
    nlohmann::json body;
    int count = 1;
    int written_count = 1;
    WallTime last_time{};
    TimePoint last_added{};
    TimePoint written{};
  };

  [[nodiscard]] Series NewSeries(const Occurrence& occurrence);
  /// Returns the write of the current count.
  EventRequest Write(Series& series) const;

  EventReporter reporter_;
  Clock& clock_;
  EventKeys keys_;
  LruMap<std::string, Series> series_{4096};  // by all fields but message, annotations and time
  TimePoint next_check_{};
};

}  // namespace kopp
