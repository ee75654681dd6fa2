#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::k8s {

/// A number or a text, such as a port by number or name, or 1 and "25%" of the replicas. Go:
/// intstr.IntOrString.
class IntOrString {
 public:
  /// The number 0.
  IntOrString() = default;
  IntOrString(std::int32_t number) : number_(number) {}                        // NOLINT: implicit
  IntOrString(std::string text) : text_(std::move(text)), is_string_(true) {}  // NOLINT: implicit
  IntOrString(const char* text) : text_(text), is_string_(true) {}             // NOLINT: implicit

  /// Returns the number for digits such as "80", and otherwise the text. Go: intstr.Parse.
  [[nodiscard]] static IntOrString Parse(std::string_view text);

  [[nodiscard]] bool is_string() const { return is_string_; }
  /// Returns 0 for a text.
  [[nodiscard]] std::int32_t number() const { return number_; }
  /// Returns "" for a number.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string ToString() const;
  /// Returns the number, or the part of `total` for a percentage: 3 for "25%" of 10 with
  /// `round_up`, otherwise 2. Throws std::invalid_argument for any other text. Go:
  /// intstr.GetScaledValueFromIntOrPercent.
  [[nodiscard]] std::int32_t Scaled(std::int32_t total, bool round_up) const;

  /// Numbers are less than texts.
  friend std::strong_ordering operator<=>(const IntOrString& a, const IntOrString& b) {
    if (a.is_string_ != b.is_string_) return a.is_string_ <=> b.is_string_;
    return a.is_string_ ? a.text_ <=> b.text_ : a.number_ <=> b.number_;
  }
  friend bool operator==(const IntOrString&, const IntOrString&) = default;

 private:
  std::string text_;
  std::int32_t number_ = 0;
  bool is_string_ = false;
};

// See kopp::detail::HasJsonForm.
void KoppDecode(std::string_view json, IntOrString& value);
[[nodiscard]] std::string KoppEncode(const IntOrString& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const IntOrString*) {
  return R"({"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true})";
}
[[nodiscard]] inline bool KoppIsEmpty(const IntOrString& /*value*/) { return false; }

}  // namespace kopp::k8s
