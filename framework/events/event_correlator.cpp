#include "event_correlator.hpp"

#include "base/timestamp.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Kind kCoreEvent{"v1", "Event", "events"};
constexpr double kBurst = 25;
constexpr std::chrono::duration<double> kRefillInterval = 300s;  // time to regain one Event
constexpr std::size_t kMaxSimilar = 10;  // occurrences from this one on are combined
constexpr Duration kSimilarInterval = 600s;

/// Returns text that is equal for occurrences that differ in message and time only.
std::string SimilarityOf(const Occurrence& occurrence) {
  const auto& related = occurrence.details.related;
  return IdentityOf(occurrence.object) + '\n' + occurrence.type + '\n' + occurrence.reason + '\n' +
         occurrence.details.action + '\n' + (related ? IdentityOf(*related) : "");
}

}  // namespace

const Kind& EventCorrelator::kind() const { return kCoreEvent; }

std::optional<EventRequest> EventCorrelator::Add(const Occurrence& occurrence) {
  const std::string similarity = SimilarityOf(occurrence);
  const bool is_combined = IsCombined(similarity, occurrence.message);
  const std::string message =
      is_combined ? ValidMessage("(combined from similar events): " + occurrence.message)
                  : occurrence.message;
  Entry& entry =
      entries_.GetOr(is_combined ? similarity : similarity + '\n' + occurrence.message, [&] {
        return Entry{keys_.New(occurrence.object, occurrence.time), occurrence.time, 0};
      });
  ++entry.count;
  if (!SpendBudget(occurrence.object)) return std::nullopt;
  EventRequest request{entry.key, Body(occurrence, entry, message), {}};
  if (entry.count > 1) {
    request.change = {{"count", entry.count},
                      {"lastTimestamp", detail::FormatTimestamp(occurrence.time)}};
    if (is_combined) request.change["message"] = message;
  }
  return request;
}

void EventCorrelator::Rename(EventRequest& request) {
  const ObjectKey key = keys_.Another(request.key);
  entries_.EraseIf([&](Entry& entry) {
    if (entry.key == request.key) entry.key = key;
    return false;
  });
  request.body["metadata"]["name"] = key.name;
  request.key = key;
}

bool EventCorrelator::IsCombined(const std::string& similarity, const std::string& message) {
  const TimePoint now = clock_.Now();
  Similar& similar = similar_.GetOr(similarity, [&] { return Similar{{}, now}; });
  if (now - similar.last > kSimilarInterval) similar.messages.clear();
  similar.last = now;
  similar.messages.insert(std::hash<std::string>{}(message));
  if (similar.messages.size() < kMaxSimilar) return false;
  similar.messages.erase(similar.messages.begin());  // bounded; the next new message is the tenth
  return true;
}

bool EventCorrelator::SpendBudget(const ObjectReference& object) {
  const TimePoint now = clock_.Now();
  Budget& budget = budgets_.GetOr(IdentityOf(object), [&] { return Budget{kBurst, now}; });
  const std::chrono::duration<double> elapsed = now - budget.updated;
  budget.events = std::min(kBurst, budget.events + elapsed / kRefillInterval);
  budget.updated = now;
  if (budget.events < 1) return false;
  budget.events -= 1;
  return true;
}

json EventCorrelator::Body(const Occurrence& occurrence, const Entry& entry,
                           const std::string& message) const {
  json body{{"metadata", EventMetadata(entry.key, occurrence.details)},
            {"involvedObject", occurrence.object},
            {"type", occurrence.type},
            {"reason", occurrence.reason},
            {"message", message},
            {"source", {{"component", reporter_.controller}}},
            {"reportingComponent", reporter_.controller},
            {"reportingInstance", ""},  // client-go: not set for this API either
            {"firstTimestamp", detail::FormatTimestamp(entry.first_time)},
            {"lastTimestamp", detail::FormatTimestamp(occurrence.time)},
            {"count", entry.count}};
  if (!occurrence.details.action.empty()) body["action"] = occurrence.details.action;
  if (occurrence.details.related) body["related"] = *occurrence.details.related;
  return body;
}

}  // namespace kopp
