#pragma once

#include <optional>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Reads a duration as Go writes it: "300ms", "1h2m3.5s", "-1s", "0". Units: ns, us, ms, s, m, h.
/// nullopt for anything else, and for what a Duration cannot hold. Digits below a nanosecond are
/// cut.
[[nodiscard]] std::optional<Duration> ParseDuration(std::string_view text);

}  // namespace kopp::detail
