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

}  // namespace kopp::detail
