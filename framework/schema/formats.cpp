#include "schema/formats.hpp"

#include "base/ascii.hpp"
#include "schema/pattern.hpp"
#include "text_formats.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <system_error>

namespace kopp::schema {
namespace {

constexpr std::string_view kDigits = "0123456789";

using Check = std::function<bool(const std::string&)>;

/// Returns a check whether the whole text matches `expression`.
Check Matches(std::string_view expression,
              Pattern::Case letter_case = Pattern::Case::kInsensitive) {
  return [pattern = Pattern(expression, letter_case)](const std::string& text) {
    return pattern.FullMatch(text);
  };
}

/// Returns the lowercase letters, including 'µ', at the start of `text`.
std::string_view LeadingLetters(std::string_view text) {
  constexpr std::string_view kMicro = "µ";
  std::size_t end = 0;
  while (end < text.size()) {
    if (text[end] >= 'a' && text[end] <= 'z') {
      ++end;
    } else if (text.substr(end).starts_with(kMicro)) {
      end += kMicro.size();
    } else {
      break;
    }
  }
  return text.substr(0, end);
}

bool IsUnit(std::string_view text) {
  constexpr std::string_view kUnits[] = {"ns", "us", "µs", "ms", "s", "m",
                                         "h",  "hr", "d",  "w",  "wk"};
  constexpr std::string_view kPrefixes[] = {"nano", "micro", "milli", "sec",
                                            "min",  "hour",  "day",   "week"};
  return std::find(std::begin(kUnits), std::end(kUnits), text) != std::end(kUnits) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Accepts Go's duration syntax, and any text that contains a number followed by a unit: "5
/// minutes" and also "1h5x". Rejects numbers that overflow Go's int64.
bool IsDuration(const std::string& text) {
  static const Pattern go_syntax("[+-]?(0|((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)");
  const std::string lower = detail::ToLowerAscii(text);
  std::string_view rest = lower;
  bool is_go_syntax = go_syntax.FullMatch(text);
  bool has_unit = false;
  bool fits = true;
  const auto skip_to = [&](std::size_t at) { rest.remove_prefix(std::min(at, rest.size())); };
  for (skip_to(rest.find_first_of(kDigits)); !rest.empty(); skip_to(rest.find_first_of(kDigits))) {
    const bool is_fraction = rest.data() != lower.data() && rest.data()[-1] == '.';
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    is_go_syntax = is_go_syntax && (error == std::errc() || is_fraction);
    skip_to(static_cast<std::size_t>(end - rest.data()));
    skip_to(rest.find_first_not_of(" \t\n\f\r"));
    const std::string_view unit = LeadingLetters(rest);
    fits = fits && (error == std::errc() || unit.empty());
    has_unit = has_unit || IsUnit(unit);
  }
  return is_go_syntax || (has_unit && fits);
}

/// A day that exists: "2026-02-28".
bool IsDate(const std::string& text) {
  static const Pattern pattern(R"(\d{4}-\d{2}-\d{2})");
  if (!pattern.FullMatch(text)) return false;
  const auto number = [&](std::size_t at, std::size_t size) {
    return std::stoi(text.substr(at, size));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

/// A date and a time with an offset. kube-apiserver does not read what follows a second 'T'.
bool IsDateTime(const std::string& text) {
  static const Pattern time(R"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.[0-9]+)?(z|[+-]\d{2}:\d{2}))");
  const std::string lower = detail::ToLowerAscii(text);
  const auto middle = lower.find('t');
  if (middle == std::string::npos || !IsDate(lower.substr(0, middle))) return false;
  return time.FullMatch(lower.substr(middle + 1, lower.find('t', middle + 1) - middle - 1));
}

/// A name whose labels may have letters and symbols of Unicode. The last of several labels has at
/// least two letters.
bool IsHostname(const std::string& text) {
  static const Pattern pattern(
      R"(([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|)"
      R"((([a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+)"
      R"([a-zA-Z\p{L}]{2,63}))");
  if (text.size() > 255 || !pattern.FullMatch(text)) return false;
  std::string_view rest = text;
  while (rest.size() > 63) {
    const auto dot = rest.find('.');
    if (dot > 63) return false;
    rest.remove_prefix(dot + 1);
  }
  return true;
}

/// Returns `text` without the characters in `ignored`.
std::string Without(std::string text, std::string_view ignored) {
  std::erase_if(text, [&](char c) { return ignored.find(c) != std::string_view::npos; });
  return text;
}

int Digit(char c) { return c - '0'; }

bool IsIsbn10(const std::string& text) {
  static const Pattern pattern("[0-9]{9}[0-9X]");
  const std::string digits = Without(text, "- \t\n\f\r");
  if (!pattern.FullMatch(digits)) return false;
  int sum = 10 * (digits[9] == 'X' ? 10 : Digit(digits[9]));
  for (int i = 0; i < 9; ++i) sum += (i + 1) * Digit(digits[static_cast<std::size_t>(i)]);
  return sum % 11 == 0;
}

bool IsIsbn13(const std::string& text) {
  static const Pattern pattern("[0-9]{13}");
  const std::string digits = Without(text, "- \t\n\f\r");
  if (!pattern.FullMatch(digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) sum += (i % 2 == 0 ? 1 : 3) * Digit(digits[i]);
  return sum % 10 == 0;
}

/// A number of one of the known kinds of cards with the checksum of Luhn. Other characters are
/// ignored.
bool IsCreditCard(const std::string& text) {
  static const Pattern pattern(
      "4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
      "3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}");
  std::string digits = text;
  std::erase_if(digits, [](char c) { return kDigits.find(c) == std::string_view::npos; });
  if (!pattern.FullMatch(digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool doubles = (digits.size() - i) % 2 == 0;
    const int value = Digit(digits[i]) * (doubles ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 == 0;
}

bool IsSsn(const std::string& text) {
  static const Pattern pattern(R"(\d{3}[- ]?\d{2}[- ]?\d{4})");
  return text.size() == 11 && pattern.FullMatch(text);
}

const std::map<std::string, Check, std::less<>>& Checks() {
  static const std::string color = R"(\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*)";
  static const std::map<std::string, Check, std::less<>> checks = {
      {"bsonobjectid", Matches("[0-9a-f]{24}")},
      {"byte", Matches("([a-z0-9+/]{4})*([a-z0-9+/]{2}==|[a-z0-9+/]{3}=|[a-z0-9+/]{4})")},
      {"cidr", &IsCidrFormat},
      {"creditcard", &IsCreditCard},
      {"date", &IsDate},
      {"datetime", &IsDateTime},
      {"duration", &IsDuration},
      {"email", &IsEmailFormat},
      {"hexcolor", Matches("#?([0-9a-f]{3}|[0-9a-f]{6})")},
      {"hostname", &IsHostname},
      {"ipv4", &IsIpv4Format},
      {"ipv6", &IsIpv6Format},
      {"isbn", [](const std::string& text) { return IsIsbn10(text) || IsIsbn13(text); }},
      {"isbn10", &IsIsbn10},
      {"isbn13", &IsIsbn13},
      {"mac", &IsMacFormat},
      {"password", [](const std::string&) { return true; }},
      {"rgbcolor",
       Matches("rgb\\(" + color + "," + color + "," + color + "\\)", Pattern::Case::kSensitive)},
      {"ssn", &IsSsn},
      {"uri", &IsUriFormat},
      {"uuid", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")},
      {"uuid3", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}")},
      {"uuid4", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")},
      {"uuid5", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")},
  };
  return checks;
}

}  // namespace

bool IsKnownFormat(std::string_view name) {
  return Checks().contains(Without(std::string(name), "-"));
}

bool MatchesFormat(const std::string& text, std::string_view format) {
  const auto found = Checks().find(Without(std::string(format), "-"));
  return found == Checks().end() || found->second(text);
}

}  // namespace kopp::schema
