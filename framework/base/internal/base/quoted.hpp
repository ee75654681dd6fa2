#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopp::detail {

/// Returns `text` with control characters escaped as \xNN, for a one-line message.
[[nodiscard]] std::string Escaped(std::string_view text);

/// Returns `text` in double quotes for a one-line message. Control characters are escaped as \xNN,
/// and a text of more than 120 bytes is truncated.
[[nodiscard]] std::string Quoted(std::string_view text);

/// Returns the elements separated by commas.
[[nodiscard]] inline std::string JoinList(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) {
    if (&element != &elements.front()) text += ',';
    text += element;
  }
  return text;
}

/// Returns the elements of a list separated by commas; none for an empty text.
[[nodiscard]] inline std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> elements;
  while (!text.empty()) {
    const auto comma = text.find(',');
    elements.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) elements.emplace_back();  // after the last comma
  }
  return elements;
}

}  // namespace kopp::detail
