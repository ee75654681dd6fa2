#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Replaces invalid UTF-8 and escapes of unpaired surrogates in JSON by U+FFFD, as Go's JSON parser
/// does.
[[nodiscard]] std::string ReplaceInvalidText(std::string_view text);

/// Parses JSON, or YAML if `content_type` contains "yaml". If a field is duplicated, the last value
/// wins. Replaces invalid text in JSON. Throws std::invalid_argument, with the same message as
/// kube-apiserver.
[[nodiscard]] nlohmann::json ParseJsonOrYaml(std::string_view text, std::string_view content_type);

}  // namespace kopp::apiserver
