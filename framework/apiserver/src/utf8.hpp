#pragma once

#include <string>

namespace kopp::apiserver {

/// `text` with U+FFFD in the place of what is no UTF-8, as Go's JSON shows it.
[[nodiscard]] std::string AsUtf8(std::string text);

}  // namespace kopp::apiserver
