#pragma once

#include <string>
#include <string_view>

namespace kopp::apiserver {

/// Whether `name` ("date-time", "ipv4") is a format of text that the real server knows. All others
/// mean nothing to it.
[[nodiscard]] bool IsFormat(std::string_view name);

/// Whether `text` has the format, one that is known.
[[nodiscard]] bool HasFormat(const std::string& text, std::string_view format);

}  // namespace kopp::apiserver
