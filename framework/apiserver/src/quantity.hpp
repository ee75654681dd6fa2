#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace kopp::apiserver {

/// An amount of a resource: "500m", "1Gi", "1e3".
class Quantity {
 public:
  /// `text` is one, as fit_to_types.hpp has made sure. What is finer than a billionth is rounded
  /// up, and what is more than 2^63-1 is that much.
  explicit Quantity(std::string_view text);

  [[nodiscard]] bool IsNegative() const { return billionths_ < 0; }
  /// The one form in which the server shows an amount: "1024Mi" is "1Gi", "0.5" is "500m".
  [[nodiscard]] std::string ToText() const;
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
