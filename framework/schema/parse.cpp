#include "schema/parse.hpp"

#include "schema/utf8.hpp"
#include "schema/yaml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Formats a character as Go's JSON parser does.
std::string QuoteCharacter(char c) {
  if (c == '\'') return "'\\''";
  if (c == '\\') return "'\\\\'";
  const std::string_view name = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : "";
  if (!name.empty()) return fmt::format("'{}'", name);
  const auto byte = static_cast<unsigned char>(c);
  if (byte < ' ' || byte == 0x7f) return fmt::format("'\\x{:02x}'", byte);
  if (byte < 0x80) return fmt::format("'{}'", c);
  // Go takes the byte for a character of Latin-1.
  if (byte <= 0xa0 || byte == 0xad) return fmt::format("'\\u{:04x}'", byte);
  const char character[] = {static_cast<char>(0xc0 | byte >> 6),
                            static_cast<char>(0x80 | (byte & 0x3f)), '\0'};
  return fmt::format("'{}'", character);
}

/// Returns what Go's JSON parser expected instead of the character at `offset`.
std::string SyntaxErrorContext(std::string_view text, std::size_t offset,
                               std::string_view message) {
  const auto contains = [&](std::string_view part) {
    return message.find(part) != std::string_view::npos;
  };
  if (contains("control character")) return "in string literal";
  if (contains("forbidden character after backslash")) return "in string escape code";
  if (contains("must be followed by 4 hex digits")) return "in \\u hexadecimal character escape";
  if (contains("invalid literal")) {
    std::size_t start = offset;
    while (start > 0 && text[start - 1] >= 'a' && text[start - 1] <= 'z') --start;
    for (const std::string_view literal : {"null", "true", "false"}) {
      const std::string_view prefix = text.substr(start, offset - start);
      if (prefix.empty() || !literal.starts_with(prefix) || prefix == literal) continue;
      return fmt::format("in literal {} (expecting '{}')", literal, literal[prefix.size()]);
    }
  }
  if (contains("expected end of input")) return "after top-level value";
  if (contains("expected string literal")) return "looking for beginning of object key string";
  if (contains("; expected ':'")) return "after object key";
  if (contains("; expected '}'")) return "after object key:value pair";
  if (contains("; expected ']'")) return "after array element";
  return "looking for beginning of value";
}

/// Returns the error message of Go's JSON parser.
std::string SyntaxError(std::string_view text, const json::parse_error& error) {
  const std::string_view message = error.what();
  if (error.byte == 0 || error.byte > text.size() ||
      message.find("unexpected end of input") != std::string_view::npos) {
    return "unexpected end of JSON input";
  }
  const std::size_t offset = error.byte - 1;
  return "invalid character " + QuoteCharacter(text[offset]) + ' ' +
         SyntaxErrorContext(text, offset, message);
}

/// Returns the code unit of the escape \uXXXX at `text`, or 0.
unsigned EscapedUnit(std::string_view text) {
  unsigned unit = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return 0;
  const auto result = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return result.ptr == text.data() + 6 ? unit : 0;
}

/// Replaces escapes of surrogates that are not pairs by U+FFFD, as Go's JSON parser does.
std::string ReplaceLoneSurrogates(std::string_view text) {
  const auto is_high = [](unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; };
  const auto is_low = [](unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; };
  std::string result;
  while (!text.empty()) {
    std::size_t size = text.starts_with('\\') && text.size() > 1 ? 2 : 1;
    const unsigned unit = EscapedUnit(text);
    if (unit != 0) size = 6;
    const bool is_pair = is_high(unit) && is_low(EscapedUnit(text.substr(6)));
    if (is_pair) size = 12;
    if (!is_pair && (is_high(unit) || is_low(unit))) {
      result += "\\ufffd";
    } else {
      result += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return result;
}

/// Parses JSON. Throws std::invalid_argument.
json ParseJson(std::string_view text) {
  std::string valid;
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    const std::string_view message = error.what();
    const bool is_invalid_text = message.find("UTF-8") != std::string_view::npos ||
                                 message.find("surrogate") != std::string_view::npos;
    if (is_invalid_text) valid = ReplaceInvalidText(text);
    if (!is_invalid_text || valid == text) throw std::invalid_argument(SyntaxError(text, error));
  } catch (const json::out_of_range&) {  // 1e400
    throw std::invalid_argument("json: cannot unmarshal number: value out of range");
  }
  return ParseJson(valid);
}

/// Returns the maximum nesting depth of JSON text. Scans the text before it is parsed: counting in
/// a callback of nlohmann's parser would take quadratic time for a list of objects.
std::size_t NestingDepth(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace

std::string ReplaceInvalidText(std::string_view text) {
  return ReplaceLoneSurrogates(ToValidUtf8(std::string(text)));
}

json ParseJsonOrYaml(std::string_view text, std::string_view content_type) {
  if (content_type.find("yaml") != std::string_view::npos) return ParseYaml(text);
  if (NestingDepth(text) > kMaxJsonDepth) {
    throw std::invalid_argument("invalid character '[' exceeded max depth");
  }
  return ParseJson(text);
}

const char* GoJsonType(const json& value) {
  switch (value.type()) {
    case json::value_t::boolean:
      return "bool";
    case json::value_t::string:
      return "string";
    case json::value_t::array:
      return "array";
    case json::value_t::object:
      return "object";
    default:
      return "number";
  }
}

bool IsInteger(const json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <=
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  }
  return value.is_number_integer();
}

}  // namespace kopp::schema
