#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kopp::apiserver {

/// A point in time as objects have it (RFC 3339); a part of a second is dropped. None where `text`
/// is something else.
[[nodiscard]] std::optional<std::chrono::sys_seconds> ReadTime(std::string_view text);

/// A duration as people are told it, in two digits or so: "5s", "3m10s", "2d4h", "6y326d".
[[nodiscard]] std::string InWords(std::chrono::seconds duration);

/// How long it is from `since` until `now`: "<unknown>" where `since` is empty, "<invalid>" where
/// it is no time or later than `now`.
[[nodiscard]] std::string AgeOf(std::string_view since, std::string_view now);

}  // namespace kopp::apiserver
