#include "system/timestamp.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>

namespace kopp::detail {
namespace {

using std::chrono::seconds;

/// Parses text from left to right and remembers whether an error occurred.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Consumes a number of exactly `digits` digits and then one of the characters in `separators`,
  /// if there are any.
  int Number(std::size_t digits, std::string_view separators = "") {
    int number = 0;
    const std::string_view field = text_.substr(0, digits);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    ok_ = ok_ && error == std::errc() && field.size() == digits && end == field.data() + digits &&
          number >= 0;
    text_.remove_prefix(field.size());
    if (!separators.empty()) ok_ = ConsumeOneOf(separators) != '\0' && ok_;
    return number;
  }
  /// Consumes the next character if it is in `characters`; otherwise returns '\0'.
  char ConsumeOneOf(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return '\0';
    const char consumed = text_.front();
    text_.remove_prefix(1);
    return consumed;
  }
  void SkipDigits() {
    text_.remove_prefix(std::min(text_.find_first_not_of("0123456789"), text_.size()));
  }
  /// Returns whether all of the text was valid and has been consumed.
  [[nodiscard]] bool Succeeded() const { return ok_ && text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

/// Returns the date and time up to the second, without a time zone. Rounds down.
std::string FormatSeconds(WallTime time) {
  const std::time_t since_epoch = std::chrono::floor<seconds>(time).time_since_epoch().count();
  std::tm utc{};
  gmtime_r(&since_epoch, &utc);
  char text[sizeof "2024-01-31T12:00:00"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return text;
}

}  // namespace

std::optional<std::chrono::sys_seconds> ParseTimestamp(std::string_view text) {
  namespace chrono = std::chrono;
  Scanner scanner(text);
  const chrono::year year(scanner.Number(4, "-"));
  const chrono::month month(static_cast<unsigned>(scanner.Number(2, "-")));
  const chrono::day day(static_cast<unsigned>(scanner.Number(2, "T")));
  const chrono::hours hours(scanner.Number(2, ":"));
  const chrono::minutes minutes(scanner.Number(2, ":"));
  const seconds second(scanner.Number(2));
  if (scanner.ConsumeOneOf(".") != '\0') scanner.SkipDigits();
  const char zone = scanner.ConsumeOneOf("Z+-");
  chrono::minutes utc_offset(0);
  if (zone == '+' || zone == '-') {
    utc_offset = chrono::hours(scanner.Number(2, ":"));
    utc_offset += chrono::minutes(scanner.Number(2));
  }
  const chrono::year_month_day date(year, month, day);
  if (zone == '\0' || !scanner.Succeeded() || !date.ok() || hours >= chrono::days(1) ||
      minutes >= chrono::hours(1) || second >= chrono::minutes(1)) {
    return std::nullopt;
  }
  const auto local = chrono::sys_days(date) + hours + minutes + second;
  return zone == '-' ? local + utc_offset : local - utc_offset;
}

std::string FormatTimestamp(WallTime time) { return FormatSeconds(time) + 'Z'; }

std::string FormatMicroTime(WallTime time) {
  constexpr std::size_t kDigits = 6;
  const auto fraction = std::chrono::duration_cast<std::chrono::microseconds>(
      time - std::chrono::floor<seconds>(time));
  const std::string digits = std::to_string(fraction.count());
  return FormatSeconds(time) + '.' + std::string(kDigits - digits.size(), '0') + digits + 'Z';
}

}  // namespace kopp::detail
