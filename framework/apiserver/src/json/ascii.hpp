#pragma once

namespace kopp::apiserver {

/// Returns whether `c` is an ASCII digit. Unlike std::isdigit, it ignores the locale.
[[nodiscard]] constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace kopp::apiserver
