#pragma once

#include <chrono>

namespace kopp::testing {

/// The real time after which a wait for something that must happen has hung. It is not a limit of
/// performance: it is long enough for a slow, loaded machine.
inline constexpr std::chrono::seconds kHangTimeout{30};

}  // namespace kopp::testing
