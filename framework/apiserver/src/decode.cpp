#include "decode.hpp"

#include "yaml.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 512;

/// What Go's parser would say.
std::string SyntaxError(std::string_view text, const json::parse_error& error) {
  const std::string_view what = error.what();
  if (error.byte > text.size() || what.find("unexpected end of input") != std::string_view::npos) {
    return "unexpected end of JSON input";
  }
  const auto expected = [&](std::string_view token) {
    return what.find(token) != std::string_view::npos;
  };
  std::string where = "looking for beginning of value";
  if (expected("expected end of input")) where = "after top-level value";
  if (expected("expected string literal")) where = "looking for beginning of object key string";
  if (expected("; expected ':'")) where = "after object key";
  if (expected("; expected '}'")) where = "after object key:value pair";
  if (expected("; expected ']'")) where = "after array element";
  return std::string("invalid character '") + text[error.byte - 1] + "' " + where;
}

/// How deep what reads as JSON is nested. Asked before it is read: a callback of the parser's that
/// could tell makes a list of n objects cost n * n.
int NestingOf(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace

json Parse(std::string_view text, std::string_view content_type) {
  if (content_type.find("yaml") != std::string_view::npos) return YamlToJson(text);
  if (NestingOf(text) > kMaxDepth) {
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

const char* GoKindOf(const json& value) {
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

std::string MediaTypeOf(const Ask& ask) {
  return ask.content_type.substr(0, ask.content_type.find(';'));
}

}  // namespace kopp::apiserver
