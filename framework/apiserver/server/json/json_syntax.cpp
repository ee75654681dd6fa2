#include "json/json_syntax.hpp"

#include "base/ascii.hpp"

#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

/// Formats a character as Go's JSON parser does.
std::string QuoteCharacter(char c) {
  constexpr std::string_view kEscaped = "'\\\a\b\t\n\v\f\r";
  constexpr std::string_view kEscapes = "'\\abtnvfr";
  if (const std::size_t i = kEscaped.find(c); i != std::string_view::npos)
    return fmt::format("'\\{}'", kEscapes[i]);
  const auto byte = static_cast<unsigned char>(c);
  if (byte < ' ' || byte == 0x7f) return fmt::format("'\\x{:02x}'", byte);
  if (byte < 0x80) return fmt::format("'{}'", c);
  // Go takes the byte for a character of Latin-1.
  if (byte <= 0xa0 || byte == 0xad) return fmt::format("'\\u{:04x}'", byte);
  const char character[] = {static_cast<char>(0xc0 | byte >> 6),
                            static_cast<char>(0x80 | (byte & 0x3f)), '\0'};
  return fmt::format("'{}'", character);
}

using kopp::detail::IsDigit;

/// Reads JSON and throws at the character that Go's JSON parser rejects.
class SyntaxChecker {
 public:
  explicit SyntaxChecker(std::string_view text) : text_(text) {}

  void CheckText() {
    ReadValue();
    SkipSpaces();
    if (offset_ < text_.size()) Fail("after top-level value");
  }

 private:
  /// Returns the next character. Throws at the end of the text.
  [[nodiscard]] char Peek() const {
    if (offset_ == text_.size()) throw std::invalid_argument("unexpected end of JSON input");
    return text_[offset_];
  }

  [[noreturn]] void Fail(std::string_view context) const {
    throw std::invalid_argument(
        fmt::format("invalid character {} {}", QuoteCharacter(text_[offset_]), context));
  }

  /// Returns whether the next character is one of `characters`, which it skips.
  bool Skip(std::string_view characters) {
    if (offset_ == text_.size() || characters.find(text_[offset_]) == std::string_view::npos)
      return false;
    ++offset_;
    return true;
  }

  void SkipSpaces() {
    while (Skip(" \t\r\n")) {
    }
  }

  /// Skips spaces and returns the next character.
  [[nodiscard]] char PeekToken() {
    SkipSpaces();
    return Peek();
  }

  void Expect(bool is_valid, std::string_view context) {
    if (!is_valid) Fail(context);
    ++offset_;
  }

  void ReadValue() {
    const char c = PeekToken();
    if (c == '{') return ReadObject();
    if (c == '[') return ReadArray();
    if (c == '"') return ReadString();
    if (c == '-' || IsDigit(c)) return ReadNumber();
    for (const std::string_view literal : {"null", "true", "false"}) {
      if (c == literal.front()) return ReadLiteral(literal);
    }
    Fail("looking for beginning of value");
  }

  void ReadObject() {
    ++offset_;
    if (PeekToken() == '}') return static_cast<void>(++offset_);
    while (true) {
      if (PeekToken() != '"') Fail("looking for beginning of object key string");
      ReadString();
      Expect(PeekToken() == ':', "after object key");
      ReadValue();
      const char end = PeekToken();
      Expect(end == ',' || end == '}', "after object key:value pair");
      if (end == '}') return;
    }
  }

  void ReadArray() {
    ++offset_;
    if (PeekToken() == ']') return static_cast<void>(++offset_);
    while (true) {
      ReadValue();
      const char end = PeekToken();
      Expect(end == ',' || end == ']', "after array element");
      if (end == ']') return;
    }
  }

  void ReadString() {
    ++offset_;
    while (!Skip("\"")) {
      if (Skip("\\")) {
        ReadEscape();
      } else {
        Expect(static_cast<unsigned char>(Peek()) >= ' ', "in string literal");
      }
    }
  }

  void ReadEscape() {
    const char c = Peek();
    constexpr std::string_view kEscapes = "\"\\/bfnrtu";
    constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
    Expect(kEscapes.find(c) != std::string_view::npos, "in string escape code");
    for (int i = 0; c == 'u' && i < 4; ++i)
      Expect(kHexDigits.find(Peek()) != std::string_view::npos,
             "in \\u hexadecimal character escape");
  }

  void ReadNumber() {
    Skip("-");
    if (!Skip("0")) ReadDigits("in numeric literal");
    if (Skip(".")) ReadDigits("after decimal point in numeric literal");
    if (!Skip("eE")) return;
    Skip("+-");
    ReadDigits("in exponent of numeric literal");
  }

  /// Reads at least one digit.
  void ReadDigits(std::string_view context) {
    Expect(IsDigit(Peek()), context);
    while (offset_ < text_.size() && IsDigit(text_[offset_])) ++offset_;
  }

  void ReadLiteral(std::string_view literal) {
    for (const char c : literal)
      Expect(Peek() == c, fmt::format("in literal {} (expecting '{}')", literal, c));
  }

  std::string_view text_;
  std::size_t offset_ = 0;
};

}  // namespace

void CheckJsonSyntax(std::string_view text) { SyntaxChecker(text).CheckText(); }

}  // namespace kopp::apiserver
