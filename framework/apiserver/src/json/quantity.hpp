#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace kopp::apiserver {

/// A resource quantity: "500m", "1Gi", "1e3".
class Quantity {
 public:
  /// `text` must be a valid quantity: DecodeTyped() checks that. Fractions below 1e-9 are rounded
  /// up; values above 2^63-1 become 2^63-1.
  explicit Quantity(std::string_view text);

  [[nodiscard]] bool IsNegative() const { return billionths_ < 0; }
  /// Returns the canonical form: "1Gi" for "1024Mi", "500m" for "0.5".
  [[nodiscard]] std::string ToString() const;
  std::strong_ordering operator<=>(const Quantity& other) const {
    return billionths_ <=> other.billionths_;
  }
  bool operator==(const Quantity& other) const { return billionths_ == other.billionths_; }

 private:
  enum class Form { kDecimal, kBinary, kExponent };
  __extension__ using Number = __int128;

  Number billionths_ = 0;
  Form form_ = Form::kDecimal;
};

}  // namespace kopp::apiserver
