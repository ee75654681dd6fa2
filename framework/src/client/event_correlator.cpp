#include "client/event_correlator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr double kBurst = 25;
constexpr std::chrono::duration<double> kRefillInterval = 300s;  // time to regain one Event

std::string IdentityOf(const ObjectReference& object) {
  return object.apiVersion + '\n' + object.kind + '\n' + object.ns + '\n' + object.name + '\n' +
         object.uid;
}

/// Returns the name of an Event, such as "web.17c0ffee": the name of the object and the time in
/// nanoseconds, as in client-go. If the name of the object is not a valid prefix, "event" replaces
/// it.
std::string EventName(const std::string& object, WallTime time) {
  constexpr std::size_t kMaxLength = 253 - sizeof(".0123456789abcdef");
  constexpr const char* kDnsNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  const bool is_valid = object.size() <= kMaxLength &&
                        object.find_first_not_of(kDnsNameCharacters) == std::string::npos;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%llx",
                static_cast<unsigned long long>(time.time_since_epoch().count()));
  return (is_valid ? object : "event") + suffix;
}

}  // namespace

std::optional<EventCorrelator::Entry> EventCorrelator::Count(const Occurrence& occurrence) {
  const std::string key = IdentityOf(occurrence.object) + '\n' + occurrence.type + '\n' +
                          occurrence.reason + '\n' + occurrence.message;
  Entry& entry = entries_.GetOr(key, [&] {
    return Entry{EventName(occurrence.object.name, occurrence.time), occurrence.time, 0};
  });
  ++entry.count;
  if (!SpendBudget(occurrence.object)) return std::nullopt;
  return entry;
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

}  // namespace kopp
