#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kopp::schema {

/// Returns `text` in double quotes, escaped as Go's strconv.Quote does: "a\nb", "\u202e". Messages
/// of the API server contain field names and values in this form.
[[nodiscard]] std::string GoQuoted(std::string_view text);

/// Returns the index of the first character that Go's unicode.IsPrint does not accept.
[[nodiscard]] std::optional<std::size_t> IndexOfUnprintable(std::string_view text);

}  // namespace kopp::schema
