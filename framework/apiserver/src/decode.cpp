#include "decode.hpp"

#include "yaml.hpp"

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

}  // namespace

json Parse(std::string_view text, std::string_view content_type) {
  if (content_type.find("yaml") != std::string_view::npos) return YamlToJson(text);
  const auto bound_depth = [&](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) throw std::invalid_argument("invalid character '[' exceeded max depth");
    return true;
  };
  try {
    return json::parse(text, bound_depth);
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
