#pragma once

#include <string>
#include <string_view>

namespace kopp::detail {

/// The start of what DescribeBody returns for an HTML page.
inline constexpr std::string_view kHtmlPage = "the response is an HTML page";

/// What to do about a response that is not from an API server.
inline constexpr std::string_view kNotAnApiServer =
    "check the address of the server, and whether a proxy or a login page answers instead";

/// Describes the body of a response that should be JSON, for messages: as empty, as an HTML page
/// with its title, or as other text, with its first 200 bytes as a single line.
[[nodiscard]] std::string DescribeBody(std::string_view body);

}  // namespace kopp::detail
