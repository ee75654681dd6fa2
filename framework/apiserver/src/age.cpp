#include "age.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace kopp::apiserver {
namespace {

using std::chrono::seconds;

/// What is left of a text that is read from the left.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  /// A number of so many digits, and what has to follow it.
  int Number(std::size_t digits, std::string_view behind = "") {
    int number = 0;
    const std::string_view part = text_.substr(0, digits);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    good_ = good_ && error == std::errc() && part.size() == digits && end == part.data() + digits &&
            number >= 0;
    text_.remove_prefix(part.size());
    if (!behind.empty()) good_ = TakeOneOf(behind) != '\0' && good_;
    return number;
  }
  /// '\0' where there is none of them.
  char TakeOneOf(std::string_view wanted) {
    if (text_.empty() || wanted.find(text_.front()) == std::string_view::npos) return '\0';
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
  }
  void SkipDigits() {
    text_.remove_prefix(std::min(text_.find_first_not_of("0123456789"), text_.size()));
  }
  [[nodiscard]] bool WasGood() const { return good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

/// "3m10s", and "3m" where there is nothing left.
std::string Both(std::int64_t whole, char unit, std::int64_t rest, char rest_unit) {
  std::string text = std::to_string(whole) + unit;
  if (rest != 0) text += std::to_string(rest) + rest_unit;
  return text;
}

}  // namespace

std::optional<std::chrono::sys_seconds> ReadTime(std::string_view text) {
  namespace chrono = std::chrono;
  Rest rest(text);
  const chrono::year year(rest.Number(4, "-"));
  const chrono::month month(static_cast<unsigned>(rest.Number(2, "-")));
  const chrono::day day(static_cast<unsigned>(rest.Number(2, "T")));
  const chrono::hours hours(rest.Number(2, ":"));
  const chrono::minutes minutes(rest.Number(2, ":"));
  const seconds second(rest.Number(2));
  if (rest.TakeOneOf(".") != '\0') rest.SkipDigits();
  const char zone = rest.TakeOneOf("Z+-");
  chrono::minutes ahead(0);  // of UTC
  if (zone == '+' || zone == '-') {
    ahead = chrono::hours(rest.Number(2, ":"));
    ahead += chrono::minutes(rest.Number(2));
  }
  const chrono::year_month_day date(year, month, day);
  if (zone == '\0' || !rest.WasGood() || !date.ok() || hours >= chrono::days(1) ||
      minutes >= chrono::hours(1) || second >= chrono::minutes(1)) {
    return std::nullopt;
  }
  const auto local = chrono::sys_days(date) + hours + minutes + second;
  return zone == '-' ? local + ahead : local - ahead;
}

std::string InWords(seconds duration) {
  const std::int64_t all = duration.count();
  const std::int64_t minutes = all / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  const std::int64_t years = days / 365;
  if (all < -1) return "<invalid>";
  if (all < 0) return "0s";
  if (minutes < 2) return std::to_string(all) + 's';
  if (minutes < 10) return Both(minutes, 'm', all % 60, 's');
  if (hours < 3) return std::to_string(minutes) + 'm';
  if (hours < 8) return Both(hours, 'h', minutes % 60, 'm');
  if (days < 2) return std::to_string(hours) + 'h';
  if (days < 8) return Both(days, 'd', hours % 24, 'h');
  if (years < 2) return std::to_string(days) + 'd';
  if (years < 8) return Both(years, 'y', days % 365, 'd');
  return std::to_string(years) + 'y';
}

std::string AgeOf(std::string_view since, std::string_view now) {
  if (since.empty()) return "<unknown>";
  const auto from = ReadTime(since);
  const auto until = ReadTime(now);
  return from && until ? InWords(*until - *from) : "<invalid>";
}

}  // namespace kopp::apiserver
