#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kopp::detail {

/// Appends the JSON text of `value`: the same as value.dump(), with about half of its instructions.
/// Throws nlohmann::json::type_error if a text is not UTF-8.
void AppendJson(std::string& out, const nlohmann::json& value);

/// Appends `text` in quotes and with escapes. Throws as AppendJson.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends the key of the next member of an object, with a comma unless it is the first member.
void AppendJsonKey(std::string& out, std::string_view key);

}  // namespace kopp::detail
