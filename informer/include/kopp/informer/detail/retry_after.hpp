#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The longest Retry-After of a server that kopp respects. A longer one is shortened to this time:
/// by mistake or by malice, a server could otherwise stop a controller for days.
inline constexpr Duration kMaxRetryAfter = std::chrono::minutes(1);

/// Parses a date of HTTP in the format that RFC 9110 prefers: "Wed, 21 Oct 2026 07:28:00 GMT".
/// Returns nullopt for any other text.
[[nodiscard]] std::optional<std::chrono::sys_seconds> ParseHttpDate(std::string_view value);

/// Parses the value of a Retry-After header (RFC 9110, section 10.2.3): a number of seconds, or a
/// date such as "Wed, 21 Oct 2026 07:28:00 GMT", which is compared to `now`. A date in the past is
/// zero. Returns nullopt for any other value, such as a negative number.
[[nodiscard]] std::optional<Duration> ParseRetryAfter(std::string_view value, WallTime now);

/// Returns the time to wait before a retry: `retry_after`, up to kMaxRetryAfter, lengthened by up
/// to its half. `random` is a number from 0 to 1. It is never shorter than the server asked for,
/// and clients that were rejected together do not return together. Returns zero without a
/// `retry_after`.
[[nodiscard]] Duration RetryAfterDelay(std::optional<Duration> retry_after, double random);

}  // namespace kopp
