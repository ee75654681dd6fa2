#include "schema/go_quoted.hpp"

#include "schema/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace kopp::schema {
namespace {

/// Removes and returns the first code point of `text`, which must be valid UTF-8.
char32_t ConsumeCodePoint(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  char32_t code_point = size == 1 ? first : first & (0x7fU >> size);
  for (const char c : text.substr(1, size - 1))
    code_point = code_point << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  text.remove_prefix(size);
  return code_point;
}

/// Returns whether the code point is a control character, a space other than ' ', a format
/// character or for private use. Go also escapes code points that Unicode has not assigned.
bool NeedsEscape(char32_t code_point) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  constexpr Range kRanges[] = {
      {0, 0x1f},        {0x7f, 0xa0},     {0xad, 0xad},        {0x600, 0x605},   {0x61c, 0x61c},
      {0x6dd, 0x6dd},   {0x70f, 0x70f},   {0x1680, 0x1680},    {0x180e, 0x180e}, {0x2000, 0x200f},
      {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000},    {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
      {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff},
  };
  return std::any_of(std::begin(kRanges), std::end(kRanges), [&](const Range& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

std::string Escape(char32_t code_point) {
  constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
  constexpr std::string_view kLetters = "abfnrtv";
  const auto number = static_cast<std::uint32_t>(code_point);
  if (code_point < 0x80) {
    if (const auto i = kNamed.find(static_cast<char>(number)); i != std::string_view::npos)
      return {'\\', kLetters[i]};
    return fmt::format("\\x{:02x}", number);
  }
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

}  // namespace

std::optional<std::size_t> IndexOfUnprintable(std::string_view text) {
  const std::string valid = ToValidUtf8(std::string(text));
  for (std::string_view rest = valid; !rest.empty();) {
    const std::size_t index = valid.size() - rest.size();
    if (NeedsEscape(ConsumeCodePoint(rest))) return index;
  }
  return std::nullopt;
}

std::string GoQuoted(std::string_view text) {
  const std::string valid = ToValidUtf8(std::string(text));
  std::string quoted = "\"";
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view before = rest;
    const char32_t code_point = ConsumeCodePoint(rest);
    if (code_point == '"' || code_point == '\\') quoted += '\\';
    if (NeedsEscape(code_point)) {
      quoted += Escape(code_point);
    } else {
      quoted += before.substr(0, before.size() - rest.size());
    }
  }
  return quoted + '"';
}

}  // namespace kopp::schema
