#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kopp::apiserver {

/// Formats a duration with about two significant digits, as kubectl does: "5s", "3m10s", "2d4h",
/// "6y326d".
[[nodiscard]] std::string HumanDuration(std::chrono::seconds duration);

/// Formats the time from `since` to `now`. Returns "<unknown>" if `since` is empty, and "<invalid>"
/// if it is not a timestamp or is later than `now`.
[[nodiscard]] std::string FormatAge(std::string_view since, std::string_view now);

}  // namespace kopp::apiserver
