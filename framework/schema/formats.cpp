#include "schema/formats.hpp"

#include "base/ascii.hpp"
#include "pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <system_error>

#include <arpa/inet.h>

namespace kopp::schema {
namespace {

constexpr std::string_view kDigits = "0123456789";

using Check = std::function<bool(const std::string&)>;

/// Returns a check whether the whole text matches `expression`, ignoring case.
Check Matches(std::string_view expression) {
  return [pattern = Pattern(expression, Pattern::Case::kInsensitive)](const std::string& text) {
    return pattern.FullMatch(text);
  };
}

bool IsAddress(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(family, text.c_str(), address.data()) == 1;
}
bool IsIpv4(const std::string& text) { return IsAddress(AF_INET, text); }
bool IsIpv6(const std::string& text) { return IsAddress(AF_INET6, text); }

bool IsCidr(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::string address = text.substr(0, slash);
  const char* end = text.data() + text.size();
  int bits = 0;
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (error != std::errc() || stop != end || bits < 0) return false;
  return (IsIpv4(address) && bits <= 32) || (IsIpv6(address) && bits <= 128);
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
  static const Pattern go_syntax("[+-]?(0|((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|ms|s|m|h))+)");
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

constexpr const char* kDate = "\\d{4}-(0\\d|1[0-2])-([0-2]\\d|3[01])";
constexpr const char* kLabel = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

const std::map<std::string, Check, std::less<>>& Checks() {
  static const std::map<std::string, Check, std::less<>> checks = {
      {"bsonobjectid", Matches("[0-9a-f]{24}")},
      {"byte", Matches("([a-z0-9+/]{4})*([a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?")},
      {"cidr", &IsCidr},
      {"creditcard", Matches("\\d{13,19}")},
      {"date", Matches(kDate)},
      {"date-time",
       Matches(std::string(kDate) +
               "[t ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d([.,]\\d+)?)?(z|[+-]\\d{2}:?\\d{2})?")},
      {"duration", &IsDuration},
      {"email", Matches("[^@\\s]+@[^@\\s]+")},
      {"hexcolor", Matches("#?([0-9a-f]{3}|[0-9a-f]{6})")},
      {"hostname", Matches(std::string(kLabel) + "(\\." + kLabel + ")*\\.?")},
      {"ipv4", &IsIpv4},
      {"ipv6", &IsIpv6},
      {"isbn", Matches("([-\\s]*\\d){9}[-\\s]*[\\dx]([-\\s]*\\d){0,3}")},
      {"isbn10", Matches("([-\\s]*\\d){9}[-\\s]*[\\dx]")},
      {"isbn13", Matches("([-\\s]*\\d){13}")},
      {"mac", Matches("([0-9a-f]{2}[:-]){5,7}[0-9a-f]{2}|([0-9a-f]{4}\\.){2,3}[0-9a-f]{4}")},
      {"password", [](const std::string&) { return true; }},
      {"rgbcolor", Matches("rgb\\(\\s*\\d{1,3}\\s*,\\s*\\d{1,3}\\s*,\\s*\\d{1,3}\\s*\\)")},
      {"ssn", Matches("\\d{3}[- ]?\\d{2}[- ]?\\d{4}")},
      {"uri", Matches("([a-z][a-z0-9+.-]*:|/)\\S*")},
      {"uuid", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")},
      {"uuid3", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}")},
      {"uuid4", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")},
      {"uuid5", Matches("[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}")},
  };
  return checks;
}

}  // namespace

bool IsKnownFormat(std::string_view name) { return Checks().contains(name); }

bool MatchesFormat(const std::string& text, std::string_view format) {
  const auto found = Checks().find(format);
  return found == Checks().end() || found->second(text);
}

}  // namespace kopp::schema
