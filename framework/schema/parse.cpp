#include "schema/parse.hpp"

#include "schema/yaml.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Returns the error message of Go's JSON parser.
std::string SyntaxError(std::string_view text, const json::parse_error& error) {
  const std::string_view message = error.what();
  if (error.byte > text.size() ||
      message.find("unexpected end of input") != std::string_view::npos) {
    return "unexpected end of JSON input";
  }
  const auto expected = [&](std::string_view token) {
    return message.find(token) != std::string_view::npos;
  };
  std::string context = "looking for beginning of value";
  if (expected("expected end of input")) context = "after top-level value";
  if (expected("expected string literal")) context = "looking for beginning of object key string";
  if (expected("; expected ':'")) context = "after object key";
  if (expected("; expected '}'")) context = "after object key:value pair";
  if (expected("; expected ']'")) context = "after array element";
  return std::string("invalid character '") + text[error.byte - 1] + "' " + context;
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

json ParseJsonOrYaml(std::string_view text, std::string_view content_type) {
  if (content_type.find("yaml") != std::string_view::npos) return ParseYaml(text);
  if (NestingDepth(text) > kMaxJsonDepth) {
    throw std::invalid_argument("invalid character '[' exceeded max depth");
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw std::invalid_argument(SyntaxError(text, error));
  } catch (const json::out_of_range&) {  // 1e400
    throw std::invalid_argument("json: cannot unmarshal number: value out of range");
  }
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
