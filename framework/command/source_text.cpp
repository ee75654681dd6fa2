#include "source_text.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace kopp::command {
namespace {

// A character at the start of a text. An invalid byte has the value kInvalid.
struct Character {
  char32_t value;
  std::string_view bytes;
};
constexpr char32_t kInvalid = 0xffffffff;

constexpr bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// Returns the number of bytes that a character with this first byte has; 0 if there is none.
std::size_t LengthOf(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

bool IsValid(char32_t value, std::size_t length) {
  const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
  const bool is_shortest = length < 3 || value >= (length == 3 ? 0x800U : 0x10000U);
  return is_shortest && !is_surrogate && value <= 0x10ffff;
}

Character FirstCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = LengthOf(first);
  const std::string_view rest = text.substr(1, std::max<std::size_t>(length, 1) - 1);
  const Character invalid{kInvalid, text.substr(0, 1)};
  if (length == 0 || rest.size() + 1 < length) return invalid;
  if (!std::all_of(rest.begin(), rest.end(), IsContinuation)) return invalid;
  char32_t value = length == 1 ? first : first & (0xffU >> (length + 1));
  for (const char c : rest) value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  return IsValid(value, length) ? Character{value, text.substr(0, length)} : invalid;
}

bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

// Returns whether a character changes the direction of the text, so that compilers warn about it.
bool IsDirectionMark(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

void AppendEscaped(std::string& literal, std::string_view bytes) {
  constexpr std::array kShifts = {6, 3, 0};  // three octal digits end an escape
  for (const char c : bytes) {
    literal += '\\';
    const auto byte = static_cast<unsigned char>(c);
    for (const int shift : kShifts) literal += static_cast<char>('0' + ((byte >> shift) & 7));
  }
}

// Returns whether text that ends with `before` and continues with `after` has a trigraph.
bool IsTrigraph(std::string_view before, std::string_view after) {
  constexpr std::string_view kLast = "=/'()!<>-";
  return before.ends_with('?') && after.size() > 1 && after[0] == '?' &&
         kLast.find(after[1]) != std::string_view::npos;
}

std::string CommentText(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto [c, bytes] = FirstCharacter(text);
    if (IsTrigraph(safe, text)) safe += ' ';
    if (IsControl(c)) {
      safe += c == '\n' ? '\n' : ' ';
    } else if (c != kInvalid && !IsDirectionMark(c)) {
      safe += bytes;
    }
    text.remove_prefix(bytes.size());
  }
  return safe;
}

/// Ends a line of a comment. A backslash at its end would continue the comment in the next line.
std::string EndedLine(const std::string& line) {
  return line + (line.ends_with('\\') ? " .\n" : "\n");
}

}  // namespace

std::string StringLiteral(std::string_view text) {
  std::string literal = "\"";
  while (!text.empty()) {
    const auto [c, bytes] = FirstCharacter(text);
    if (c == '"' || c == '\\' || (c == '?' && literal.ends_with('?'))) {
      literal.append("\\").append(bytes);
    } else if (c == '\n') {
      literal += "\\n";
    } else if (c == kInvalid || IsControl(c) || IsDirectionMark(c)) {
      AppendEscaped(literal, bytes);
    } else {
      literal += bytes;
    }
    text.remove_prefix(bytes.size());
  }
  return literal + '"';
}

void WriteComment(std::string& out, const std::string& indent, std::string_view text) {
  const std::string start = indent + "///";
  std::istringstream lines(CommentText(text));
  bool blank = false;
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string current = start;
    for (std::string word; words >> word;) {
      if (blank && !first) out += start + '\n';
      blank = false;
      if (current.size() + 1 + word.size() > kColumns && current != start) {
        out += EndedLine(current);
        current = start;
      }
      current += ' ' + word;
      first = false;
    }
    if (current == start) {
      blank = true;
      continue;
    }
    out += EndedLine(current);
  }
}

}  // namespace kopp::command
