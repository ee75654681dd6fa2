#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/quantity.hpp>

namespace kopp::k8s {
namespace {

constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr std::string_view kDigits = "0123456789";
constexpr int kMaxDigits = 37;
constexpr int kMaxPower = 1'000'000'000;  // of ten

__extension__ using Number = __int128;
constexpr Number kMaxBinary = std::numeric_limits<std::int64_t>::max();

constexpr Number PowerOfTen(int power) {
  Number result = 1;
  for (; power > 0; --power) result *= 10;
  return result;
}
constexpr Number kLimit = PowerOfTen(kMaxDigits);  // of a mantissa

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Returns the exponent of "e3" or "E+3", limited to kMaxPower.
int ParseExponent(std::string_view exponent) {
  exponent.remove_prefix(1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  for (const char digit : exponent) {
    power = std::min<std::int64_t>(power * 10 + (digit - '0'), kMaxPower);
  }
  return static_cast<int>(negative ? -power : power);
}

/// A number that is not negative: digits * 10^power. The digits neither start nor end with 0.
struct DecimalNumber {
  std::string digits;
  int power = 0;
  [[nodiscard]] bool is_zero() const { return digits.empty(); }
};

/// Parses and removes the digits at the start of `text`: "012.50" is 125 * 10^-1.
DecimalNumber ConsumeDecimal(std::string_view& text) {
  DecimalNumber result;
  bool is_fraction = false;
  for (; !text.empty() && (IsDigit(text.front()) || text.front() == '.'); text.remove_prefix(1)) {
    if (text.front() == '.') {
      is_fraction = true;
      continue;
    }
    result.digits += text.front();
    if (is_fraction) --result.power;
  }
  const std::size_t end = result.digits.find_last_not_of('0') + 1;  // 0: no other digit
  result.power += static_cast<int>(result.digits.size() - end);
  result.digits.resize(end);
  result.digits.erase(0, result.digits.find_first_not_of('0'));
  return result;
}

/// Removes the last digits, and returns whether there was one other than 0.
bool RemoveDigits(DecimalNumber& decimal, int count) {
  if (count <= 0 || decimal.is_zero()) return false;
  const auto removed = std::min(static_cast<std::size_t>(count), decimal.digits.size());
  decimal.digits.resize(decimal.digits.size() - removed);
  decimal.power += count;
  return true;  // the last digit is not 0
}

Number MantissaOf(const DecimalNumber& decimal) {
  Number result = 0;
  for (const char digit : decimal.digits) result = result * 10 + (digit - '0');
  return result;
}

/// Returns decimal * 1024^steps in units of 10^exponent, rounded up, but at most kMaxBinary.
Number BinaryMantissa(DecimalNumber decimal, std::ptrdiff_t steps, int exponent) {
  constexpr int kEnoughDigits = 34;  // more of them are below 1e-9 in a result up to kMaxBinary
  const Number max = kMaxBinary * PowerOfTen(-exponent);
  const auto size = static_cast<int>(decimal.digits.size());
  if (size + decimal.power > 19) return max;
  bool is_inexact = RemoveDigits(decimal, size - kEnoughDigits);
  Number number = MantissaOf(decimal);
  int power = decimal.power;
  const auto remove_digit = [&] {
    is_inexact |= number % 10 != 0;
    number /= 10;
    ++power;
  };
  for (; steps > 0; --steps) {
    while (number >= kLimit / 1024) remove_digit();
    number *= 1024;
  }
  while (power < exponent && number > 0) remove_digit();
  for (; power > exponent; --power) {
    if (number > max) return max;
    number *= 10;
  }
  return std::min(is_inexact ? number + 1 : number, max);
}

template <std::size_t kCount>
bool Contains(const std::string_view (&suffixes)[kCount], std::string_view suffix) {
  return std::find(std::begin(suffixes), std::end(suffixes), suffix) != std::end(suffixes);
}

/// Throws std::invalid_argument, with the messages of the API server, if `text` is not a quantity.
void RequireQuantity(std::string_view text) {
  const auto consume = [&](std::string_view characters) {
    const std::string_view consumed = text.substr(0, text.find_first_not_of(characters));
    text.remove_prefix(consumed.size());
    return consumed;
  };
  const auto consume_sign = [&] {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  };
  const bool is_empty = text.empty();
  consume_sign();
  consume(kDigits);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    consume(kDigits);
  }
  const std::string_view suffix = consume("eEinumkKMGTP");
  const bool has_more = !text.empty();
  consume_sign();
  const bool has_exponent = !consume(kDigits).empty();
  if (is_empty || !text.empty()) {
    throw std::invalid_argument(
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  const bool is_valid_suffix =
      has_more ? has_exponent && (suffix == "e" || suffix == "E")
               : Contains(kDecimalSuffixes, suffix) || Contains(kBinarySuffixes, suffix);
  if (!is_valid_suffix) throw std::invalid_argument("unable to parse quantity's suffix");
}

/// Returns the end of a number after its digits: zeros, and a suffix or an exponent that is a
/// multiple of 3. Suffixes end at 10^18; a much larger power is shown as an exponent.
std::string DecimalSuffix(int power, bool is_exponent) {
  constexpr int kMaxSuffix = 18;
  constexpr int kMaxZeros = 1000;
  int shown = power < 0 ? -((2 - power) / 3 * 3) : power / 3 * 3;
  if (!is_exponent && power < kMaxZeros) shown = std::min(shown, kMaxSuffix);
  const std::string zeros(static_cast<std::size_t>(power - shown), '0');
  if (shown <= kMaxSuffix && !is_exponent) {
    return zeros + std::string(kDecimalSuffixes[static_cast<std::size_t>(shown + 9) / 3]);
  }
  return shown == 0 ? zeros : zeros + 'e' + std::to_string(shown);
}

}  // namespace

Quantity::Quantity(std::string_view text) {
  RequireQuantity(text);
  const std::string_view all = text;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  DecimalNumber decimal = ConsumeDecimal(text);
  if (decimal.is_zero()) return;
  if (text.ends_with('i')) {
    form_ = Form::kBinary;
    const auto* const suffix =
        std::find(std::begin(kBinarySuffixes), std::end(kBinarySuffixes), text);
    mantissa_ = BinaryMantissa(decimal, suffix - std::begin(kBinarySuffixes), kMinExponent);
  } else if (text.size() > 1) {
    form_ = Form::kExponent;
    decimal.power += ParseExponent(text);
  } else {
    const auto* const suffix =
        std::find(std::begin(kDecimalSuffixes), std::end(kDecimalSuffixes), text);
    decimal.power += kMinExponent + 3 * static_cast<int>(suffix - std::begin(kDecimalSuffixes));
  }
  if (form_ != Form::kBinary) {
    const bool is_inexact = RemoveDigits(decimal, kMinExponent - decimal.power);
    if (decimal.digits.size() > kMaxDigits || decimal.power >= kMaxPower) {
      throw std::invalid_argument("the quantity " + std::string(all.substr(0, 60)) +
                                  " has too many digits: at most 37 are supported");
    }
    Assign(MantissaOf(decimal) + (is_inexact ? 1 : 0), decimal.power);
  }
  if (is_negative) mantissa_ = -mantissa_;
}

/// Sets the value mantissa * 10^exponent.
void Quantity::Assign(Number mantissa, int exponent) {
  const auto is_below = [&](Number limit) { return mantissa < limit && mantissa > -limit; };
  while (!is_below(kLimit)) {
    if (mantissa % 10 != 0) throw std::overflow_error("the quantity has more than 37 digits");
    mantissa /= 10;
    ++exponent;
  }
  for (; exponent > kMinExponent && is_below(kLimit / 10) && mantissa != 0; --exponent) {
    mantissa *= 10;
  }
  mantissa_ = mantissa;
  exponent_ = mantissa == 0 ? kMinExponent : exponent;
}

std::string Quantity::ToString() const {
  Number number = mantissa_ < 0 ? -mantissa_ : mantissa_;
  if (number == 0) return "0";
  // Go shows what has a fraction without a binary suffix.
  const bool is_binary = form_ == Form::kBinary && exponent_ == kMinExponent &&
                         number >= 1024 * kOne && number % kOne == 0;
  int exponent = exponent_;
  std::size_t step = 0;
  if (is_binary) {
    number /= kOne;
    for (; number % 1024 == 0 && step + 1 < std::size(kBinarySuffixes); ++step) number /= 1024;
  } else {
    for (; number % 10 == 0; ++exponent) number /= 10;
  }
  std::string digits;
  for (; number > 0; number /= 10) digits += static_cast<char>('0' + static_cast<int>(number % 10));
  if (mantissa_ < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  if (is_binary) return digits + std::string(kBinarySuffixes[step]);
  return digits + DecimalSuffix(exponent, form_ == Form::kExponent);
}

std::int64_t Quantity::Scaled(Number unit) const {
  using Limits = std::numeric_limits<std::int64_t>;
  if (exponent_ > kMinExponent) return mantissa_ < 0 ? Limits::min() : Limits::max();
  const Number away = mantissa_ < 0 ? -(unit - 1) : unit - 1;
  const Number scaled = (mantissa_ + away) / unit;
  return static_cast<std::int64_t>(std::clamp<Number>(scaled, Limits::min(), Limits::max()));
}

Quantity& Quantity::RoundUp(int power) {
  if (power <= exponent_) return *this;
  const Number unit = PowerOfTen(std::min(power - exponent_, kMaxDigits));
  const Number away = mantissa_ < 0 ? 1 - unit : unit - 1;
  Assign((mantissa_ + away) / unit, power);
  return *this;
}

/// Adds `mantissa`, which is that of `other` with any sign.
void Quantity::Add(Number mantissa, const Quantity& other) {
  if (IsZero()) form_ = other.form_;
  if (exponent_ == other.exponent_) return Assign(mantissa_ + mantissa, exponent_);
  Number larger = exponent_ > other.exponent_ ? mantissa_ : mantissa;
  Number smaller = exponent_ > other.exponent_ ? mantissa : mantissa_;
  int exponent = std::max(exponent_, other.exponent_);
  const int target = std::min(exponent_, other.exponent_);
  if (smaller == 0) return Assign(larger, exponent);
  int common = target;
  for (; smaller % 10 == 0 && common < exponent; ++common) smaller /= 10;
  for (; exponent > common; --exponent) {
    if (larger >= kLimit || larger <= -kLimit) {
      throw std::overflow_error("the sum of the quantities has more than 37 digits");
    }
    larger *= 10;
  }
  Assign(larger + smaller, common);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  Add(other.mantissa_, other);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  Add(-other.mantissa_, other);
  return *this;
}

void KoppDecode(std::string_view json, Quantity& value) {
  const bool is_number = !json.empty() && (IsDigit(json.front()) || json.front() == '-');
  try {
    value = is_number ? Quantity(json) : Quantity(detail::DecodeString(json));
  } catch (const std::invalid_argument& error) {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "", error.what());
  }
}

std::string KoppEncode(const Quantity& value) { return detail::EncodeString(value.ToString()); }

}  // namespace kopp::k8s
