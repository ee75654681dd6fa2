#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::k8s {

/// An amount of a resource: "500m", "1Gi", "1e3". Keeps nine decimal places, and 37 digits in all.
/// Thread-safe like an integer. Go: resource.Quantity, which has no limit on digits.
class Quantity {
 public:
  /// Zero.
  Quantity() = default;
  /// Parses `text`. Fractions below 1e-9 are rounded up; with a binary suffix, as in Go, values
  /// above 2^63-1 become 2^63-1. Throws std::invalid_argument with the message of the API server if
  /// `text` is not a quantity, and with another one if it has too many digits.
  Quantity(std::string_view text);                                         // NOLINT: implicit
  Quantity(const char* text) : Quantity(std::string_view(text)) {}         // NOLINT: implicit
  Quantity(const std::string& text) : Quantity(std::string_view(text)) {}  // NOLINT: implicit
  template <std::integral Integer>
  Quantity(Integer value) : mantissa_(Number{value} * kOne) {}  // NOLINT: implicit

  /// Returns the canonical form: "1Gi" for "1024Mi", "500m" for "0.5". Decimal amounts from 1e21 on
  /// keep the suffix E; Go returns "1" for "1000E".
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] bool IsZero() const { return mantissa_ == 0; }
  [[nodiscard]] bool IsNegative() const { return mantissa_ < 0; }
  /// Returns the value as an integer, rounded away from zero and limited to the range of the type:
  /// 1 for "500m". Go: Value.
  [[nodiscard]] std::int64_t Value() const { return Scaled(kOne); }
  /// Returns the value in thousandths, rounded away from zero and limited to the range of the
  /// type: 500 for "500m". Go: MilliValue.
  [[nodiscard]] std::int64_t MilliValue() const { return Scaled(kOne / 1000); }

  /// Rounds to a multiple of 10^power, away from zero: "1.2" becomes "2" with 0. Go: RoundUp.
  Quantity& RoundUp(int power);

  /// Quantities compare by value: 1Gi equals 1024Mi.
  std::strong_ordering operator<=>(const Quantity& other) const {
    if (exponent_ == other.exponent_) return mantissa_ <=> other.mantissa_;
    return (exponent_ > other.exponent_ ? mantissa_ : -other.mantissa_) <=> 0;
  }
  bool operator==(const Quantity& other) const {
    return mantissa_ == other.mantissa_ && exponent_ == other.exponent_;
  }
  /// A sum or difference keeps the format (binary, decimal or exponent) of the left side, unless
  /// that is zero. Throws std::overflow_error if the result has too many digits.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

 private:
  enum class Form { kDecimal, kBinary, kExponent };
  __extension__ using Number = __int128;
  static constexpr Number kOne = 1'000'000'000;

  static constexpr int kMinExponent = -9;

  [[nodiscard]] std::int64_t Scaled(Number unit) const;
  void Add(Number mantissa, const Quantity& other);
  void Assign(Number mantissa, int exponent);

  // The value is mantissa_ * 10^exponent_. The exponent is the smallest one, from kMinExponent on,
  // for which the mantissa has at most 37 digits. So equal values have equal members, and of two
  // values with different exponents, the one with the larger exponent is larger.
  Number mantissa_ = 0;
  std::int32_t exponent_ = kMinExponent;
  Form form_ = Form::kDecimal;
};

// See kopp::detail::HasJsonForm. A quantity in JSON is a string, or a number when it is decoded.
void KoppDecode(std::string_view json, Quantity& value);
[[nodiscard]] std::string KoppEncode(const Quantity& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const Quantity*) {
  return R"({"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$","x-kubernetes-int-or-string":true})";
}
[[nodiscard]] inline bool KoppIsEmpty(const Quantity& /*value*/) { return false; }

}  // namespace kopp::k8s
