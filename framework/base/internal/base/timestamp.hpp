#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Parses an RFC 3339 timestamp. Drops fractions of a second. Returns std::nullopt if `text` is not
/// valid.
[[nodiscard]] std::optional<std::chrono::sys_seconds> ParseTimestamp(std::string_view text);

/// Returns `time` as metav1.Time is written: "2024-01-31T12:00:00Z".
[[nodiscard]] std::string FormatTimestamp(WallTime time);

/// Returns `time` as metav1.MicroTime is written: "2024-01-31T12:00:00.000000Z".
[[nodiscard]] std::string FormatMicroTime(WallTime time);

}  // namespace kopp::detail
