#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// JSON values as Go programs name and print them after decoding into an interface{}. The error
// messages of kube-apiserver contain these texts.

namespace kopp::apiserver {

/// Returns the kind of a value: "map", "slice", "string", "bool", "int64", "float64" or "invalid"
/// for null.
[[nodiscard]] std::string GoKindOf(const nlohmann::json& value);

/// Returns the type of a value: "map[string]interface {}", "[]interface {}", or its kind.
[[nodiscard]] std::string GoTypeOf(const nlohmann::json& value);

/// Returns the type that the JSON decoder names for a value that is not null: "object", "array",
/// "string", "bool" or "number".
[[nodiscard]] const char* GoJsonType(const nlohmann::json& value);

/// Formats a value like the verb %v: "map[a:1 b:[x <nil>]]".
[[nodiscard]] std::string FormatGoValue(const nlohmann::json& value);

/// Formats a value like the verb %#v: map[string]interface {}{"a":1}.
[[nodiscard]] std::string FormatGoSyntax(const nlohmann::json& value);

/// Formats a value like the verb %s. A value that is not a string has its type: "%!s(int64=1)".
[[nodiscard]] std::string FormatGoString(const nlohmann::json& value);

/// Formats a list as Go does with %q: ["a" "b"].
[[nodiscard]] inline std::string QuotedList(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "\"" : " \"") + value + '"';
  return '[' + text + ']';
}

[[nodiscard]] std::string Join(const std::vector<std::string>& words,
                               const std::string& between = ",");
/// Formats labels: "a=1,b=2".
[[nodiscard]] std::string FormatLabels(const nlohmann::json& labels);
/// Formats a LabelSelector: "a=1,b in (2,3),!c".
[[nodiscard]] std::string SelectorText(const nlohmann::json& selector);

}  // namespace kopp::apiserver
