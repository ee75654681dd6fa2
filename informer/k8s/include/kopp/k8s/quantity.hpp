#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::k8s {

/// An amount of a resource: "500m", "1Gi", "1e3". Keeps nine decimal places. Thread-safe like an
/// integer. Go: resource.Quantity, which keeps more places for values below 1e-9.
class Quantity {
 public:
  /// Zero.
  Quantity() = default;
  /// Parses `text`. Fractions below 1e-9 are rounded up; values above 2^63-1 become 2^63-1. Throws
  /// std::invalid_argument with the message of the API server if `text` is not a quantity.
  Quantity(std::string_view text);                                         // NOLINT: implicit
  Quantity(const char* text) : Quantity(std::string_view(text)) {}         // NOLINT: implicit
  Quantity(const std::string& text) : Quantity(std::string_view(text)) {}  // NOLINT: implicit
  template <std::integral Integer>
  Quantity(Integer value) : billionths_(Number{value} * kOne) {}  // NOLINT: implicit

  /// Returns the canonical form: "1Gi" for "1024Mi", "500m" for "0.5".
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] bool IsZero() const { return billionths_ == 0; }
  [[nodiscard]] bool IsNegative() const { return billionths_ < 0; }
  /// Returns the value as an integer, rounded away from zero: 1 for "500m". Go: Value.
  [[nodiscard]] std::int64_t Value() const { return Scaled(kOne); }
  /// Returns the value in thousandths, rounded away from zero and limited to the range of the
  /// type: 500 for "500m". Go: MilliValue.
  [[nodiscard]] std::int64_t MilliValue() const { return Scaled(kOne / 1000); }

  /// Quantities compare by value: 1Gi equals 1024Mi.
  std::strong_ordering operator<=>(const Quantity& other) const {
    return billionths_ <=> other.billionths_;
  }
  bool operator==(const Quantity& other) const { return billionths_ == other.billionths_; }
  /// A sum or difference keeps the format (binary, decimal or exponent) of the left side, unless
  /// that is zero. Values beyond 2^63-1 become 2^63-1.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }

 private:
  enum class Form { kDecimal, kBinary, kExponent };
  __extension__ using Number = __int128;
  static constexpr Number kOne = 1'000'000'000;

  [[nodiscard]] std::int64_t Scaled(Number unit) const;
  void Add(Number billionths, const Quantity& other);

  Number billionths_ = 0;
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
