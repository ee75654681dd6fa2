#pragma once

#include <cstddef>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Throws std::invalid_argument if a duration that a program has set as an option is negative.
/// `option` is its name, such as "CacheOptions::sync_timeout".
void RequireNotNegative(std::string_view option, Duration value);
/// Throws std::invalid_argument unless the duration is longer than zero.
void RequirePositive(std::string_view option, Duration value);
/// Throws std::invalid_argument if a limit is zero, with which nothing would work.
void RequirePositive(std::string_view option, std::size_t limit);
/// The longest name of a field manager that the API server accepts, in bytes.
inline constexpr std::size_t kMaxFieldManager = 128;
/// Throws std::invalid_argument if the API server would reject the field manager: if it is empty,
/// longer than kMaxFieldManager, or has control characters.
void RequireFieldManager(std::string_view option, std::string_view value);

}  // namespace kopp::detail
