#pragma once

#include "exchange.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Reads JSON, or YAML where `content_type` says so. Of a field that comes twice the last one
/// counts. Throws std::invalid_argument, in the words of the real server.
[[nodiscard]] nlohmann::json Parse(std::string_view text, std::string_view content_type);

/// What Go's messages call a value that is not null: "object", "bool".
[[nodiscard]] const char* GoKindOf(const nlohmann::json& value);

/// Whether it is one that Go's int64 holds.
[[nodiscard]] bool IsInteger(const nlohmann::json& value);

/// The content type without its parameters.
[[nodiscard]] std::string MediaTypeOf(const Ask& ask);

}  // namespace kopp::apiserver
