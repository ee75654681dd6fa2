#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace kopp::detail {

/// Parses an RFC 3339 timestamp. Drops fractions of a second. Returns std::nullopt if `text` is not
/// valid.
[[nodiscard]] std::optional<std::chrono::sys_seconds> ParseTimestamp(std::string_view text);

}  // namespace kopp::detail
