#include "net/url_query.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace kopp::detail {

std::string DecodePercent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

QueryParameters ParseQuery(std::string_view text) {
  QueryParameters parameters;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const std::string_view name = pair.substr(0, pair.find('='));
    const std::string_view value = pair.substr(std::min(name.size() + 1, pair.size()));
    if (!pair.empty()) parameters.emplace(DecodePercent(name, true), DecodePercent(value, true));
  }
  return parameters;
}

}  // namespace kopp::detail
