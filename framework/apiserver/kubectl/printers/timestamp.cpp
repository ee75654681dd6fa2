#include "kubectl/printers/timestamp.hpp"

#include "base/timestamp.hpp"

#include <cstdint>

namespace kopp::apiserver {
namespace {

/// Formats two units: "3m10s", or "3m" if `rest` is 0.
std::string TwoUnits(std::int64_t whole, char unit, std::int64_t rest, char rest_unit) {
  std::string text = std::to_string(whole) + unit;
  if (rest != 0) text += std::to_string(rest) + rest_unit;
  return text;
}

}  // namespace

std::string HumanDuration(std::chrono::seconds duration) {
  const std::int64_t total_seconds = duration.count();
  const std::int64_t minutes = total_seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  const std::int64_t years = days / 365;
  if (total_seconds < -1) return "<invalid>";
  if (total_seconds < 0) return "0s";
  if (minutes < 2) return std::to_string(total_seconds) + 's';
  if (minutes < 10) return TwoUnits(minutes, 'm', total_seconds % 60, 's');
  if (hours < 3) return std::to_string(minutes) + 'm';
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (days < 2) return std::to_string(hours) + 'h';
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (years < 2) return std::to_string(days) + 'd';
  if (years < 8) return TwoUnits(years, 'y', days % 365, 'd');
  return std::to_string(years) + 'y';
}

std::string FormatAge(std::string_view since, std::string_view now) {
  if (since.empty()) return "<unknown>";
  const auto from = detail::ParseTimestamp(since);
  const auto until = detail::ParseTimestamp(now);
  return from && until ? HumanDuration(*until - *from) : "<invalid>";
}

}  // namespace kopp::apiserver
