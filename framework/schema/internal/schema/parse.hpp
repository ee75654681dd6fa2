#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// The maximum nesting depth of JSON and YAML from clients. It limits the stack that recursive
/// functions on a value need.
constexpr std::size_t kMaxJsonDepth = 512;

/// Replaces invalid UTF-8 and escapes of unpaired surrogates in JSON by U+FFFD, as Go's JSON parser
/// does.
[[nodiscard]] std::string ReplaceInvalidText(std::string_view text);

/// Parses JSON, or YAML if `content_type` contains "yaml". If a field is duplicated, the last value
/// wins. Replaces invalid text in JSON. Throws std::invalid_argument, with the same message as
/// kube-apiserver.
[[nodiscard]] nlohmann::json ParseJsonOrYaml(std::string_view text, std::string_view content_type);

/// Returns the JSON type of a value that is not null, as Go's error messages name it: "object",
/// "bool".
[[nodiscard]] const char* GoJsonType(const nlohmann::json& value);

/// Returns whether `value` is an integer that fits into Go's int64.
[[nodiscard]] bool IsInteger(const nlohmann::json& value);

}  // namespace kopp::schema
