#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Parses a duration in the syntax of Go's time.ParseDuration: "300ms", "1h2m3.5s", "-1s", "0". The
/// units are ns, us, ms, s, m and h. Returns nullopt for any other text and on overflow. Fractions
/// of a nanosecond are truncated.
[[nodiscard]] std::optional<Duration> ParseDuration(std::string_view text);

/// Returns the shortest text that ParseDuration reads as `duration`, without fractions: "1h30m",
/// "500ms", "0s".
[[nodiscard]] std::string FormatDuration(Duration duration);

}  // namespace kopp::detail
