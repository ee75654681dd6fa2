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

constexpr int kBillionth = -9;
constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr std::string_view kDigits = "0123456789";
constexpr int kMaxPower = 100;  // a larger power of ten makes no difference

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Returns the exponent of "e3" or "E+3", limited to kMaxPower.
int ParseExponent(std::string_view exponent) {
  exponent.remove_prefix(1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  int power = 0;
  for (const char digit : exponent) power = std::min(power * 10 + (digit - '0'), kMaxPower);
  return negative ? -power : power;
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

}  // namespace

Quantity::Quantity(std::string_view text) {
  RequireQuantity(text);
  constexpr Number kMax = Number{std::numeric_limits<std::int64_t>::max()} * kOne;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int power = -kBillionth;
  Number number = 0;
  bool fraction = false;
  bool inexact = false;  // whether non-zero digits were dropped
  while (!text.empty() && (IsDigit(text.front()) || text.front() == '.')) {
    const char c = text.front();
    text.remove_prefix(1);
    const bool is_counted = number <= kMax && (!fraction || power > 0);
    if (c == '.') {
      fraction = true;
    } else if (is_counted) {
      number = number * 10 + (c - '0');
      if (fraction) --power;
    } else {
      inexact |= c != '0';
      if (!fraction) power = std::min(power + 1, kMaxPower);
    }
  }
  const auto multiply = [&](int by) { number = number > kMax / by ? kMax : number * by; };
  if (text.ends_with('i')) {
    form_ = Form::kBinary;
    const auto* const suffix =
        std::find(std::begin(kBinarySuffixes), std::end(kBinarySuffixes), text);
    for (const auto* step = std::begin(kBinarySuffixes); step != suffix; ++step) multiply(1024);
  } else if (text.size() > 1) {
    form_ = Form::kExponent;
    power += ParseExponent(text);
  } else {
    const auto* const suffix =
        std::find(std::begin(kDecimalSuffixes), std::end(kDecimalSuffixes), text);
    power += kBillionth + 3 * static_cast<int>(suffix - std::begin(kDecimalSuffixes));
  }
  for (; power > 0; --power) multiply(10);
  for (; power < 0; ++power) {
    inexact |= number % 10 != 0;
    number /= 10;
  }
  number = std::min(inexact ? number + 1 : number, kMax);
  billionths_ = negative ? -number : number;
}

std::string Quantity::ToString() const {
  Number number = billionths_ < 0 ? -billionths_ : billionths_;
  if (number == 0) return "0";
  const bool binary = form_ == Form::kBinary && number >= 1024 * kOne;
  const Number base = binary ? 1024 : 1000;
  std::size_t step = 0;
  if (binary) number = (number + kOne - 1) / kOne;
  const std::size_t last = (binary ? std::size(kBinarySuffixes) : std::size(kDecimalSuffixes)) - 1;
  while (number % base == 0 && step < last) {
    number /= base;
    ++step;
  }
  std::string digits;
  for (; number > 0; number /= 10) digits += static_cast<char>('0' + static_cast<int>(number % 10));
  if (billionths_ < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  if (binary) return digits + std::string(kBinarySuffixes[step]);
  if (form_ != Form::kExponent) return digits + std::string(kDecimalSuffixes[step]);
  const int exponent = kBillionth + 3 * static_cast<int>(step);
  return exponent == 0 ? digits : digits + 'e' + std::to_string(exponent);
}

std::int64_t Quantity::Scaled(Number unit) const {
  const Number away = billionths_ < 0 ? -(unit - 1) : unit - 1;
  const Number scaled = (billionths_ + away) / unit;
  using Limits = std::numeric_limits<std::int64_t>;
  return static_cast<std::int64_t>(std::clamp<Number>(scaled, Limits::min(), Limits::max()));
}

void Quantity::Add(Number billionths, const Quantity& other) {
  constexpr Number kMax = Number{std::numeric_limits<std::int64_t>::max()} * kOne;
  if (IsZero()) form_ = other.form_;
  billionths_ = std::clamp(billionths_ + billionths, -kMax, kMax);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  Add(other.billionths_, other);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  Add(-other.billionths_, other);
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
