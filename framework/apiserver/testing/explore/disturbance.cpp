#include "explore/disturbance.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver::explore {
namespace {

using Type = Disturbance::Type;

// In the order of Disturbance::Type: ToString uses the type as the index.
constexpr std::array<std::pair<std::string_view, Type>, 23> kDisturbanceNames{{
    {"crash-before", Type::kCrashBefore},
    {"crash-after", Type::kCrashAfter},
    {"down-before", Type::kDownBefore},
    {"down-after", Type::kDownAfter},
    {"crash-stale", Type::kCrashStale},
    {"conflict", Type::kConflict},
    {"throttle", Type::kThrottle},
    {"error", Type::kError},
    {"timeout", Type::kTimeout},
    {"reset", Type::kReset},
    {"lost-response", Type::kLostResponse},
    {"step-before", Type::kStepBefore},
    {"leader", Type::kLeader},
    {"leader-step", Type::kLeaderStep},
    {"restart", Type::kRestart},
    {"delay", Type::kDelay},
    {"hold", Type::kHold},
    {"hold-step", Type::kHoldStep},
    {"gap", Type::kGap},
    {"webhook-timeout", Type::kWebhookTimeout},
    {"webhook-refused", Type::kWebhookRefused},
    {"webhook-denied", Type::kWebhookDenied},
    {"webhook-slow", Type::kWebhookSlow},
}};
static_assert([] {
  std::size_t index = 0;
  for (const auto& [name, type] : kDisturbanceNames) {
    if (type != static_cast<Type>(index++)) return false;
  }
  return true;
}());

[[noreturn]] void ThrowInvalid(std::string_view text) {
  std::string names;
  for (const auto& [name, type] : kDisturbanceNames) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument("\"" + std::string(text) +
                              "\" is not a valid disturbance: write NAME:NUMBER, with a NUMBER of "
                              "at least 1 and one of these names: " +
                              names);
}

Disturbance ParseDisturbance(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const auto& [name, type] : kDisturbanceNames) {
    if (colon == std::string_view::npos || text.substr(0, colon) != name) continue;
    const std::string_view digits = text.substr(colon + 1);
    Disturbance disturbance{.type = type};
    const char* const end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, disturbance.at);
    if (error != std::errc() || rest != end || disturbance.at == 0) break;
    return disturbance;
  }
  ThrowInvalid(text);
}

}  // namespace

std::string ToString(const Schedule& schedule) {
  std::string text;
  for (const Disturbance& disturbance : schedule) {
    const auto& name = kDisturbanceNames.at(static_cast<std::size_t>(disturbance.type)).first;
    fmt::format_to(std::back_inserter(text), "{}{}:{}", text.empty() ? "" : "+", name,
                   disturbance.at);
  }
  return text;
}

Schedule ParseSchedule(std::string_view text) {
  Schedule schedule;
  if (text.empty()) return schedule;
  for (;;) {
    const std::size_t plus = text.find('+');
    schedule.push_back(ParseDisturbance(text.substr(0, plus)));
    if (plus == std::string_view::npos) return schedule;
    text.remove_prefix(plus + 1);
  }
}

}  // namespace kopp::apiserver::explore
