#pragma once

#include <algorithm>
#include <string_view>

namespace kopp::schema {

/// Removes and returns the text before the first `separator`, and removes the separator itself.
/// Without a separator, this is the whole text.
inline std::string_view ConsumeUntil(std::string_view& text, char separator) {
  const std::string_view consumed = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(consumed.size() + 1, text.size()));
  return consumed;
}

}  // namespace kopp::schema
