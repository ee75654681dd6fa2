#include "base/quoted.hpp"

#include <array>
#include <cstdio>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxLength = 120;

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(c));
      escaped += escape.data();
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Quoted(std::string_view text) {
  return '"' + Escaped(text.substr(0, kMaxLength)) + (text.size() > kMaxLength ? "…\"" : "\"");
}

}  // namespace kopp::detail
