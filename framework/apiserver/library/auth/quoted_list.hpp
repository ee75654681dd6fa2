#pragma once

#include <string>
#include <vector>

namespace kopp::apiserver {

/// Formats a list as Go does with %q: ["a" "b"].
[[nodiscard]] inline std::string QuotedList(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "\"" : " \"") + value + '"';
  return '[' + text + ']';
}

}  // namespace kopp::apiserver
