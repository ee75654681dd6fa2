#pragma once

#include <string>

namespace kopp::schema {

/// Replaces invalid UTF-8 by U+FFFD, as Go's JSON encoder does.
[[nodiscard]] std::string ToValidUtf8(std::string text);

}  // namespace kopp::schema
