#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/duration.hpp>

namespace kopp::k8s {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> kUnits{{
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // micro sign
    {"\u03bcs", 1'000},  // Greek letter mu, which Go accepts too
    {"ms", 1'000'000},
    {"s", kSecond},
    {"m", 60 * kSecond},
    {"h", 3600 * kSecond},
}};

bool IsDigitOfDuration(char c) { return c >= '0' && c <= '9'; }
bool IsUnitCharacter(char c) { return !IsDigitOfDuration(c) && c != '.'; }

std::string_view ConsumeWhile(std::string_view& text, bool (*predicate)(char)) {
  std::size_t length = 0;
  while (length < text.size() && predicate(text[length])) ++length;
  const std::string_view prefix = text.substr(0, length);
  text.remove_prefix(length);
  return prefix;
}

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
  const std::string_view whole = ConsumeWhile(text, IsDigitOfDuration);
  const bool has_point = text.starts_with('.');
  if (has_point) text.remove_prefix(1);
  const std::string_view fraction =
      has_point ? ConsumeWhile(text, IsDigitOfDuration) : std::string_view();
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

std::optional<kopp::Duration> TryParse(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return kopp::Duration::zero();
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    if (!ConsumeTerm(text, sum)) return std::nullopt;
  }
  return kopp::Duration(negative ? -sum : sum);
}

/// Returns value / unit as a decimal number without trailing zeros: "1.5".
std::string Decimal(std::uint64_t value, std::uint64_t unit) {
  std::string text = std::to_string(value / unit);
  std::uint64_t rest = value % unit;
  if (rest != 0) text += '.';
  while (rest != 0) {
    rest *= 10;
    text += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return text;
}

}  // namespace

Duration Duration::Parse(std::string_view text) {
  if (const auto duration = TryParse(text)) return *duration;
  throw std::invalid_argument("\"" + std::string(text) +
                              "\" is not a duration such as 300ms, 1.5s or 1h30m");
}

std::string Duration::ToString() const {
  const std::int64_t count = duration_.count();
  const auto rest = count < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(count)
                              : static_cast<std::uint64_t>(count);
  const std::string sign = count < 0 ? "-" : "";
  if (rest == 0) return "0s";
  if (rest < 1'000) return sign + Decimal(rest, 1) + "ns";
  if (rest < 1'000'000) return sign + Decimal(rest, 1'000) + "\u00b5s";
  constexpr auto kWhole = static_cast<std::uint64_t>(kSecond);
  if (rest < kWhole) return sign + Decimal(rest, 1'000'000) + "ms";
  const std::uint64_t minutes = rest / (60 * kWhole);
  const std::string seconds = Decimal(rest % (60 * kWhole), kWhole) + 's';
  if (minutes == 0) return sign + seconds;
  if (minutes < 60) return sign + std::to_string(minutes) + 'm' + seconds;
  return sign + std::to_string(minutes / 60) + 'h' + std::to_string(minutes % 60) + 'm' + seconds;
}

void KoppDecode(std::string_view json, Duration& value) {
  try {
    value = Duration::Parse(detail::DecodeString(json));
  } catch (const std::invalid_argument& error) {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "", error.what());
  }
}

std::string KoppEncode(const Duration& value) { return detail::EncodeString(value.ToString()); }

}  // namespace kopp::k8s
