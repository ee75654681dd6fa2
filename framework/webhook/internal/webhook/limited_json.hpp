#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace kopp {

/// Parses JSON that another program has sent. Throws std::invalid_argument if it is malformed, or
/// nested deeper than the API server accepts: functions that compare values are recursive.
[[nodiscard]] nlohmann::json ParseLimited(std::string_view text);

}  // namespace kopp
