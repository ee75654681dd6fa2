#include "quantity.hpp"

#include <algorithm>
#include <cstdlib>

namespace kopp::apiserver {
namespace {

constexpr int kBillionth = -9;
constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr int kMaxPower = 27;  // of ten, that 128 bits hold beside what is counted

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Quantity::Quantity(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int power = -kBillionth;
  Number number = 0;
  bool fraction = false;
  bool rest = false;
  while (!text.empty() && (IsDigit(text.front()) || text.front() == '.')) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '.') {
      fraction = true;
    } else if (fraction && power == 0) {
      rest |= c != '0';
    } else {
      number = number * 10 + (c - '0');
      if (fraction) --power;
    }
  }
  if (text.ends_with('i')) {
    form_ = Form::kBinary;
    const auto suffix = std::find(std::begin(kBinarySuffixes), std::end(kBinarySuffixes), text);
    for (auto step = std::begin(kBinarySuffixes); step != suffix; ++step) number *= 1024;
  } else if (text.size() > 1) {
    form_ = Form::kExponent;
    power += std::atoi(std::string(text.substr(1)).c_str());
  } else {
    const auto suffix = std::find(std::begin(kDecimalSuffixes), std::end(kDecimalSuffixes), text);
    power += kBillionth + 3 * static_cast<int>(suffix - std::begin(kDecimalSuffixes));
  }
  for (power = std::min(power, kMaxPower); power > 0; --power) number *= 10;
  for (; power < 0; ++power) {
    rest |= number % 10 != 0;
    number /= 10;
  }
  if (rest) ++number;
  billionths_ = negative ? -number : number;
}

std::string Quantity::ToText() const {
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
