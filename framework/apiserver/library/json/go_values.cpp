#include "json/go_values.hpp"

#include "json/schema_names.hpp"
#include "schema/decode.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string FormatGoFloat(double number) {
  // Go changes to an exponent at these limits.
  constexpr double kMinFixed = 1e-4;
  constexpr double kMaxFixed = 1e21;
  const double size = std::fabs(number);
  const bool fixed = number == 0 || (size >= kMinFixed && size < kMaxFixed);
  std::array<char, 64> text{};
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), number,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), result.ptr};
}

}  // namespace

std::string GoKindOf(const json& value) {
  if (value.is_object()) return "map";
  if (value.is_array()) return "slice";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_number()) return IsInteger(value) ? "int64" : "float64";
  return "invalid";
}

std::string GoTypeOf(const json& value) {
  if (value.is_object()) return "map[string]interface {}";
  if (value.is_array()) return "[]interface {}";
  return GoKindOf(value);
}

std::string FormatGoValue(const json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && !IsInteger(value)) return FormatGoFloat(value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string text = value.is_object() ? "map[" : "[";
  const char* separator = "";
  for (const auto& [name, member] : value.items()) {
    text += separator;
    if (value.is_object()) text += name + ':';
    text += FormatGoValue(member);
    separator = " ";
  }
  return text + ']';
}

std::string FormatGoString(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "%!s(<nil>)";
  if (value.is_structured()) return FormatGoValue(value);
  return "%!s(" + GoTypeOf(value) + '=' + FormatGoValue(value) + ')';
}

}  // namespace kopp::apiserver
