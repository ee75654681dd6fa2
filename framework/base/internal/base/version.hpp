#pragma once

#include <string_view>

namespace kopp::detail {

/// Returns the version of kopp: "0.1.0".
[[nodiscard]] std::string_view Version();

}  // namespace kopp::detail
