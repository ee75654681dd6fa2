#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kopp::detail {

/// Decodes percent-encoding. Leaves invalid escapes as they are.
[[nodiscard]] std::string DecodePercent(std::string_view text, bool plus_is_space);

/// The decoded parameters of a URL. A parameter without '=' has the value "".
using QueryParameters = std::multimap<std::string, std::string, std::less<>>;

/// Parses the part of a URL after '?'. Never fails.
[[nodiscard]] QueryParameters ParseQuery(std::string_view text);

}  // namespace kopp::detail
