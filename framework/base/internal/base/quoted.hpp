#pragma once

#include <string>
#include <string_view>

namespace kopp::detail {

/// Returns `text` with control characters escaped as \xNN, for a one-line message.
[[nodiscard]] std::string Escaped(std::string_view text);

/// Returns `text` in double quotes for a one-line message. Control characters are escaped as \xNN,
/// and a text of more than 120 bytes is truncated.
[[nodiscard]] std::string Quoted(std::string_view text);

}  // namespace kopp::detail
