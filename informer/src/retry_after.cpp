#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <system_error>

#include <kopp/informer/detail/retry_after.hpp>

namespace kopp {
namespace {

std::optional<Duration> ParseSeconds(std::string_view value) {
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (end != value.data() + value.size()) return std::nullopt;
  if (error == std::errc::invalid_argument) return std::nullopt;
  const bool too_large = error == std::errc::result_out_of_range;
  return std::chrono::seconds(too_large ? std::numeric_limits<std::uint32_t>::max() : seconds);
}

}  // namespace

std::optional<std::chrono::sys_seconds> ParseHttpDate(std::string_view value) {
  if (!value.ends_with(" GMT")) return std::nullopt;  // get_time accepts the beginning of a date
  std::istringstream text{std::string(value)};
  text.imbue(std::locale::classic());
  std::tm utc{};
  text >> std::get_time(&utc, "%a, %d %b %Y %H:%M:%S GMT");
  if (text.fail() || text.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{utc.tm_year + 1900},
                                         std::chrono::month{static_cast<unsigned>(utc.tm_mon + 1)},
                                         std::chrono::day{static_cast<unsigned>(utc.tm_mday)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date} + std::chrono::hours{utc.tm_hour} +
         std::chrono::minutes{utc.tm_min} + std::chrono::seconds{utc.tm_sec};
}

std::optional<Duration> ParseRetryAfter(std::string_view value, WallTime now) {
  if (const auto seconds = ParseSeconds(value)) return seconds;
  const auto date = ParseHttpDate(value);
  if (!date) return std::nullopt;
  // Computed in seconds: dates before 1677 and after 2262 are beyond the range of WallTime.
  constexpr std::chrono::seconds kLongest{std::numeric_limits<std::uint32_t>::max()};
  return std::clamp(*date - std::chrono::floor<std::chrono::seconds>(now),
                    std::chrono::seconds::zero(), kLongest);
}

Duration RetryAfterDelay(std::optional<Duration> retry_after, double random) {
  const Duration delay =
      std::clamp(retry_after.value_or(Duration::zero()), Duration::zero(), kMaxRetryAfter);
  const double jitter = std::clamp(random, 0.0, 1.0) / 2 * static_cast<double>(delay.count());
  return delay + Duration(static_cast<Duration::rep>(jitter));
}

}  // namespace kopp
