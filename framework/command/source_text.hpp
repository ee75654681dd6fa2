#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kopp::command {

inline constexpr std::size_t kColumns = 100;  ///< of the lines of generated headers

/// Returns `text` as a C++ string literal with quotes. Control characters, marks that change the
/// direction of text, invalid UTF-8 and trigraphs are escaped.
[[nodiscard]] std::string StringLiteral(std::string_view text);

/// Appends `text` as a documentation comment of at most 100 columns. No text ends or continues the
/// comment. Control characters become spaces, and trigraphs are split. Marks that change the
/// direction of text, and invalid UTF-8, are left out.
void WriteComment(std::string& out, const std::string& indent, std::string_view text);

}  // namespace kopp::command
