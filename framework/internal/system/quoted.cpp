#include "system/quoted.hpp"

#include <array>
#include <cstdio>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxLength = 120;

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxLength)) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(c));
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + (text.size() > kMaxLength ? "…\"" : "\"");
}

}  // namespace kopp::detail
