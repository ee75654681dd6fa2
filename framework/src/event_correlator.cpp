#include "event_correlator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr double kBurst = 25;
constexpr std::chrono::duration<double> kRefill = 300s;  // for one more

std::string Identity(const ObjectReference& about) {
  return about.apiVersion + '\n' + about.kind + '\n' + about.ns + '\n' + about.name + '\n' +
         about.uid;
}

/// "web.17c0ffee": the object and the moment, as client-go names Events. An object whose name no
/// Event can bear is called "event".
std::string EventName(const std::string& object, WallTime time) {
  constexpr std::size_t kLongest = 253 - sizeof(".0123456789abcdef");
  constexpr const char* kOfDnsNames = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  const bool fit =
      object.size() <= kLongest && object.find_first_not_of(kOfDnsNames) == std::string::npos;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%llx",
                static_cast<unsigned long long>(time.time_since_epoch().count()));
  return (fit ? object : "event") + suffix;
}

}  // namespace

std::optional<EventCorrelator::Entry> EventCorrelator::Count(const Occurrence& occurrence) {
  const std::string key = Identity(occurrence.about) + '\n' + occurrence.type + '\n' +
                          occurrence.reason + '\n' + occurrence.message;
  Entry& entry = entries_.GetOr(key, [&] {
    return Entry{EventName(occurrence.about.name, occurrence.at), occurrence.at, 0};
  });
  ++entry.count;
  if (!Spend(occurrence.about)) return std::nullopt;
  return entry;
}

bool EventCorrelator::Spend(const ObjectReference& about) {
  const TimePoint now = clock_.Now();
  Budget& budget = budgets_.GetOr(Identity(about), [&] { return Budget{kBurst, now}; });
  const std::chrono::duration<double> elapsed = now - budget.filled;
  budget.events = std::min(kBurst, budget.events + elapsed / kRefill);
  budget.filled = now;
  if (budget.events < 1) return false;
  budget.events -= 1;
  return true;
}

}  // namespace kopp
