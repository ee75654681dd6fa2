#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace kopp {

/// A field that is not valid, in the words of the API server.
struct FieldError {
  std::string field = {};    ///< "spec.replicas"
  std::string message = {};  ///< "Invalid value: 0: spec.replicas in body should be …"
  std::string reason = {};   ///< "FieldValueInvalid"

  /// Returns field and message: "spec.replicas: Invalid value: 0: …".
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};
using FieldErrors = std::vector<FieldError>;

/// Functions that create field errors as those of k8s.io/apimachinery/pkg/util/validation/field do:
///
///     kopp::field::Invalid("spec.replicas", 300, "must be at most 100")
///
/// `field` is the path of the field: "spec.ports[0].name".
namespace field {

/// The value of a field in a message: strings are quoted as in Go.
class Value {
 public:
  Value(std::string_view text);                                      // NOLINT: implicit
  Value(const char* text) : Value(std::string_view(text)) {}         // NOLINT: implicit
  Value(const std::string& text) : Value(std::string_view(text)) {}  // NOLINT: implicit
  Value(double number);                                              // NOLINT: implicit
  template <std::integral N>  // a template, so that a pointer does not convert to bool
  Value(N number) {           // NOLINT: implicit
    if constexpr (std::same_as<N, bool>) {
      text_ = number ? "true" : "false";
    } else {
      text_ = std::to_string(number);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// "Required value: DETAIL"
[[nodiscard]] FieldError Required(std::string_view field, std::string_view detail = "");
/// "Invalid value: VALUE: DETAIL"
[[nodiscard]] FieldError Invalid(std::string_view field, const Value& value,
                                 std::string_view detail);
/// "Forbidden: DETAIL"
[[nodiscard]] FieldError Forbidden(std::string_view field, std::string_view detail);
/// "Duplicate value: VALUE"
[[nodiscard]] FieldError Duplicate(std::string_view field, const Value& value);
/// `Unsupported value: VALUE: supported values: "a", "b"`
[[nodiscard]] FieldError NotSupported(std::string_view field, const Value& value,
                                      const std::vector<std::string>& supported);
/// "Not found: VALUE"
[[nodiscard]] FieldError NotFound(std::string_view field, const Value& value);

}  // namespace field

}  // namespace kopp
