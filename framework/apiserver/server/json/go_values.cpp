#include "json/go_values.hpp"

#include "json/schema_names.hpp"
#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string FormatGoFloat(double number) {
  // Go changes to an exponent at these limits.
  constexpr double kMinFixed = 1e-4;
  constexpr double kMaxFixed = 1e6;
  const double size = std::fabs(number);
  const bool fixed = number == 0 || (size >= kMinFixed && size < kMaxFixed);
  std::array<char, 64> text{};
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), number,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), result.ptr};
}

/// Formats a requirement of a LabelSelector: "b in (2,3)".
std::string Requirement(const json& expression) {
  std::string key = StringAt(expression, "/key");
  const std::string op = StringAt(expression, "/operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return '!' + key;
  std::vector<std::string> values;
  for (const json& value : ValueAt(expression, "/values")) values.push_back(value);
  std::sort(values.begin(), values.end());
  return key + (op == "In" ? " in (" : " notin (") + Join(values) + ')';
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

const char* GoJsonType(const json& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      return "bool";
    case json::value_t::string:
      return "string";
    case json::value_t::array:
      return "array";
    case json::value_t::object:
      return "object";
    default:
      return "number";
  }
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

std::string FormatGoSyntax(const json& value) {
  if (value.is_null()) return "interface {}(nil)";
  if (value.is_string()) return GoQuoted(value.get_ref<const std::string&>());
  if (!value.is_structured()) return FormatGoValue(value);
  std::string members;
  for (const auto& [name, member] : value.items()) {
    if (!members.empty()) members += ", ";
    if (value.is_object()) members += GoQuoted(name) + ':';
    members += FormatGoSyntax(member);
  }
  return GoTypeOf(value) + '{' + members + '}';
}

std::string FormatGoString(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "%!s(<nil>)";
  if (value.is_structured()) return FormatGoValue(value);
  return "%!s(" + GoTypeOf(value) + '=' + FormatGoValue(value) + ')';
}

std::string Join(const std::vector<std::string>& words, const std::string& between) {
  std::string joined;
  for (const std::string& word : words) {
    if (&word != &words.front()) joined += between;
    joined += word;
  }
  return joined;
}

std::string FormatLabels(const json& labels) {
  std::vector<std::string> words;
  for (const auto& [name, value] : labels.items()) {
    words.push_back(name + '=' + value.get<std::string>());
  }
  return Join(words);
}

std::string SelectorText(const json& selector) {
  std::map<std::string, std::vector<std::string>> by_key;
  for (const auto& [name, value] : ValueAt(selector, "/matchLabels").items()) {
    by_key[name].push_back(name + '=' + value.get<std::string>());
  }
  for (const json& expression : ValueAt(selector, "/matchExpressions")) {
    by_key[StringAt(expression, "/key")].push_back(Requirement(expression));
  }
  std::vector<std::string> words;
  for (const auto& [key, requirements] : by_key) {
    words.insert(words.end(), requirements.begin(), requirements.end());
  }
  return Join(words);
}

}  // namespace kopp::apiserver
