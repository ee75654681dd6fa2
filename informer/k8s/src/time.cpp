#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/time.hpp>

namespace kopp::k8s {
namespace {

namespace chrono = std::chrono;
using chrono::microseconds;
using chrono::sys_time;

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
  /// Consumes a fraction of a second: a separator and at least one digit.
  microseconds Fraction() {
    microseconds fraction(0);
    if (ConsumeOneOf(".,") == '\0') return fraction;
    microseconds unit(100'000);
    char digit = ConsumeOneOf("0123456789");
    ok_ = ok_ && digit != '\0';
    for (; digit != '\0'; digit = ConsumeOneOf("0123456789"), unit /= 10) {
      fraction += (digit - '0') * unit;
    }
    return fraction;
  }
  /// Returns whether all of the text was valid and has been consumed.
  [[nodiscard]] bool Succeeded() const { return ok_ && text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

std::optional<sys_time<microseconds>> ParseRfc3339(std::string_view text) {
  Scanner scanner(text);
  const chrono::year year(scanner.Number(4, "-"));
  const chrono::month month(static_cast<unsigned>(scanner.Number(2, "-")));
  const chrono::day day(static_cast<unsigned>(scanner.Number(2, "T")));
  const chrono::hours hours(scanner.Number(2, ":"));
  const chrono::minutes minutes(scanner.Number(2, ":"));
  const chrono::seconds second(scanner.Number(2));
  const microseconds fraction = scanner.Fraction();
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
  const auto local = chrono::sys_days(date) + hours + minutes + second + fraction;
  return zone == '-' ? local + utc_offset : local - utc_offset;
}

sys_time<microseconds> ParseOrThrow(std::string_view text) {
  if (const auto time = ParseRfc3339(text)) return *time;
  throw std::invalid_argument("\"" + std::string(text) +
                              "\" is not a time in the format of RFC 3339, such as "
                              "2024-01-31T12:00:00Z");
}

/// Returns the date and time up to the second, without a time zone.
std::string FormatSeconds(chrono::sys_seconds time) {
  const auto days = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(days);
  const chrono::hh_mm_ss clock(time - days);
  char text[40];
  const int length = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return {text, static_cast<std::size_t>(length)};
}

template <typename T>
T DecodeTime(std::string_view json) {
  try {
    return T::Parse(detail::DecodeString(json));
  } catch (const std::invalid_argument& error) {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "", error.what());
  }
}

}  // namespace

Time Time::Parse(std::string_view text) { return {ParseOrThrow(text)}; }
std::string Time::ToString() const { return FormatSeconds(seconds_) + 'Z'; }

MicroTime MicroTime::Parse(std::string_view text) { return {ParseOrThrow(text)}; }
std::string MicroTime::ToString() const {
  constexpr std::size_t kPlaces = 6;
  const auto whole = chrono::floor<chrono::seconds>(micros_);
  const std::string digits = std::to_string((micros_ - whole).count());
  return FormatSeconds(whole) + '.' + std::string(kPlaces - digits.size(), '0') + digits + 'Z';
}

void KoppDecode(std::string_view json, Time& value) { value = DecodeTime<Time>(json); }
std::string KoppEncode(const Time& value) { return detail::EncodeString(value.ToString()); }
void KoppDecode(std::string_view json, MicroTime& value) { value = DecodeTime<MicroTime>(json); }
std::string KoppEncode(const MicroTime& value) { return detail::EncodeString(value.ToString()); }

}  // namespace kopp::k8s
