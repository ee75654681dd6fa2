#pragma once

#include <string>
#include <string_view>

namespace kopp::detail {

/// `text` in double quotes, fit for a message of one line: control characters escaped, cut if long.
[[nodiscard]] std::string Quoted(std::string_view text);

}  // namespace kopp::detail
