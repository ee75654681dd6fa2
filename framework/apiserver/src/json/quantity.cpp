#include "json/quantity.hpp"

#include "json/ascii.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kopp::apiserver {
namespace {

constexpr int kBillionth = -9;
constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr int kMaxPower = 100;  // a larger power of ten makes no difference

/// Returns the exponent of "e3" or "E+3", limited to kMaxPower.
int ParseExponent(std::string_view exponent) {
  exponent.remove_prefix(1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  int power = 0;
  for (const char digit : exponent) power = std::min(power * 10 + (digit - '0'), kMaxPower);
  return negative ? -power : power;
}

}  // namespace

Quantity::Quantity(std::string_view text) {
  constexpr Number kMax = Number{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;
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
    const auto suffix = std::find(std::begin(kBinarySuffixes), std::end(kBinarySuffixes), text);
    for (auto step = std::begin(kBinarySuffixes); step != suffix; ++step) multiply(1024);
  } else if (text.size() > 1) {
    form_ = Form::kExponent;
    power += ParseExponent(text);
  } else {
    const auto suffix = std::find(std::begin(kDecimalSuffixes), std::end(kDecimalSuffixes), text);
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
  constexpr Number kOne = 1'000'000'000;
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

}  // namespace kopp::apiserver
