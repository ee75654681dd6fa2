#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Lenient JSON accessors for input from clients. They never throw: if a value is absent or has
// another type, or if `object` is not an object, they return null, "", 0, false or an empty list.
// References point into `object` or to a static null.

namespace kopp::schema {

/// Returns the member `name` of `object`.
[[nodiscard]] const nlohmann::json& Field(const nlohmann::json& object, std::string_view name);
[[nodiscard]] std::string StringField(const nlohmann::json& object, std::string_view name);
/// Returns the strings in a list. Skips items of other types.
[[nodiscard]] std::vector<std::string> StringListField(const nlohmann::json& object,
                                                       std::string_view name);

/// Returns the value at a JSON pointer (RFC 6901), such as "/metadata/name".
[[nodiscard]] const nlohmann::json& ValueAt(const nlohmann::json& object, std::string_view pointer);
/// Returns a string, or a number as text, or `fallback` for any other value.
[[nodiscard]] std::string StringAt(const nlohmann::json& object, std::string_view pointer,
                                   const std::string& fallback = "");
[[nodiscard]] std::int64_t IntegerAt(const nlohmann::json& object, std::string_view pointer);
[[nodiscard]] bool IsTrueAt(const nlohmann::json& object, std::string_view pointer);

/// Returns whether `value` is an integer that fits into std::int64_t.
[[nodiscard]] bool IsInteger(const nlohmann::json& value);

}  // namespace kopp::schema
