#include "event_series.hpp"

#include "base/timestamp.hpp"

#include <chrono>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Kind kEventOfEventsGroup{"events.k8s.io/v1", "Event", "events"};
constexpr Duration kFinishTime = 6min;
constexpr Duration kRefreshTime = 30min;

/// Returns the action of an Event, which this API requires.
const std::string& ActionOf(const Occurrence& occurrence) {
  return occurrence.details.action.empty() ? occurrence.reason : occurrence.details.action;
}

}  // namespace

const Kind& EventSeries::kind() const { return kEventOfEventsGroup; }

std::optional<EventRequest> EventSeries::Add(const Occurrence& occurrence) {
  const auto& related = occurrence.details.related;
  const std::string key = IdentityOf(occurrence.object) + '\n' + occurrence.type + '\n' +
                          occurrence.reason + '\n' + ActionOf(occurrence) + '\n' +
                          (related ? IdentityOf(*related) : "");
  const TimePoint now = clock_.Now();
  if (series_.empty()) next_check_ = SaturatingAdd(now, kFinishTime);
  bool is_new = false;
  Series& series = series_.GetOr(key, [&] {
    is_new = true;
    return NewSeries(occurrence);
  });
  series.last_added = now;
  series.last_time = occurrence.time;
  if (is_new) {
    series.written = now;
    return EventRequest{series.key, series.body, {}};
  }
  ++series.count;
  if (series.count > 2) return std::nullopt;
  return Write(series);
}

TimePoint EventSeries::NextDue() const { return series_.empty() ? TimePoint::max() : next_check_; }

std::vector<EventRequest> EventSeries::TakeDue() {
  std::vector<EventRequest> requests;
  const TimePoint now = clock_.Now();
  if (now < NextDue()) return requests;
  next_check_ = SaturatingAdd(now, kFinishTime);
  series_.EraseIf([&](Series& series) {
    const bool is_finished = now - series.last_added >= kFinishTime;
    const bool is_due = is_finished || now - series.written >= kRefreshTime;
    if (is_due && series.count > series.written_count) requests.push_back(Write(series));
    return is_finished;
  });
  return requests;
}

std::vector<EventRequest> EventSeries::TakeAll() {
  std::vector<EventRequest> requests;
  series_.EraseIf([&](Series& series) {
    if (series.count > series.written_count) requests.push_back(Write(series));
    return true;
  });
  return requests;
}

void EventSeries::Rename(EventRequest& request) {
  const ObjectKey key = keys_.Another(request.key);
  series_.EraseIf([&](Series& series) {
    if (series.key != request.key) return false;
    series.key = key;
    series.body["metadata"]["name"] = key.name;
    return false;
  });
  request.body["metadata"]["name"] = key.name;
  request.key = key;
}

EventSeries::Series EventSeries::NewSeries(const Occurrence& occurrence) {
  Series series{.key = keys_.New(occurrence.object, occurrence.time), .body = {}};
  series.body = {{"metadata", EventMetadata(series.key, occurrence.details)},
                 {"regarding", occurrence.object},
                 {"type", occurrence.type},
                 {"reason", occurrence.reason},
                 {"action", ActionOf(occurrence)},
                 {"note", occurrence.message},
                 {"reportingController", reporter_.controller},
                 {"reportingInstance", reporter_.instance},
                 {"eventTime", detail::FormatMicroTime(occurrence.time)}};
  if (occurrence.details.related) series.body["related"] = *occurrence.details.related;
  return series;
}

EventRequest EventSeries::Write(Series& series) const {
  series.written_count = series.count;
  series.written = clock_.Now();
  const json count{{"count", series.count},
                   {"lastObservedTime", detail::FormatMicroTime(series.last_time)}};
  EventRequest request{series.key, series.body, {}};
  request.body["series"] = count;
  request.change["series"] = count;
  return request;
}

}  // namespace kopp
