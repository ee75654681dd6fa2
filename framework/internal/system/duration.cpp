#include "system/duration.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace kopp::detail {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits{{
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // micro sign
    {"\u03bcs", 1'000},  // Greek letter mu, which Go accepts too
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

std::string_view ConsumeWhile(std::string_view& text, bool (*predicate)(char)) {
  std::size_t length = 0;
  while (length < text.size() && predicate(text[length])) ++length;
  const std::string_view prefix = text.substr(0, length);
  text.remove_prefix(length);
  return prefix;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUnitCharacter(char c) { return !IsDigit(c) && c != '.'; }

// Adds count * unit to `sum`. Returns false on overflow.
bool AddScaled(std::int64_t count, std::int64_t unit, std::int64_t& sum) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(count, unit, &product) &&
         !__builtin_add_overflow(sum, product, &sum);
}

std::optional<std::int64_t> FindUnit(std::string_view name) {
  for (const auto& [unit_name, unit] : kUnits) {
    if (name == unit_name) return unit;
  }
  return std::nullopt;
}

// Removes one term such as "12.5ms" from the front of `text` and adds it to `sum`. Returns false if
// there is no valid term, or on overflow.
bool ConsumeTerm(std::string_view& text, std::int64_t& sum) {
  const std::string_view whole = ConsumeWhile(text, IsDigit);
  const bool has_point = text.starts_with('.');
  if (has_point) text.remove_prefix(1);
  const std::string_view fraction = has_point ? ConsumeWhile(text, IsDigit) : std::string_view();
  const auto unit = FindUnit(ConsumeWhile(text, IsUnitCharacter));
  if ((whole.empty() && fraction.empty()) || !unit) return false;
  std::int64_t count = 0;
  for (const char digit : whole) {
    if (!AddScaled(count, 9, count)) return false;  // count *= 10
    if (!AddScaled(digit - '0', 1, count)) return false;
  }
  std::int64_t digit_value = *unit;
  for (const char digit : fraction) {
    digit_value /= 10;
    if (!AddScaled(digit - '0', digit_value, sum)) return false;
  }
  return AddScaled(count, *unit, sum);
}

}  // namespace

std::optional<Duration> ParseDuration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    if (!ConsumeTerm(text, sum)) return std::nullopt;
  }
  return Duration(negative ? -sum : sum);
}

std::string FormatDuration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  constexpr std::array<const char*, 6> kNames{"h", "m", "s", "ms", "us", "ns"};
  std::string text = duration < Duration::zero() ? "-" : "";
  std::int64_t rest = duration.count();
  for (const char* name : kNames) {
    const std::int64_t unit = *FindUnit(name);
    const std::int64_t count = rest / unit;
    rest %= unit;
    if (count != 0) text += std::to_string(count < 0 ? -count : count) + name;
  }
  return text;
}

}  // namespace kopp::detail
