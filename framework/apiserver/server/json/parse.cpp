#include "json/parse.hpp"

#include "json/json_syntax.hpp"
#include "json/schema_names.hpp"
#include "schema/max_depth.hpp"
#include "schema/utf8.hpp"
#include "schema/yaml.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

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

/// Parses JSON. Throws std::invalid_argument.
json ParseJson(std::string_view text) {
  if (NestingDepth(text) > kMaxJsonDepth) {
    throw std::invalid_argument("invalid character '[' exceeded max depth");
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    CheckJsonSyntax(text);
    const std::string valid = ReplaceInvalidText(text);
    if (valid == text)
      throw std::invalid_argument("invalid JSON at byte " + std::to_string(error.byte));
    return ParseJson(valid);
  } catch (const json::out_of_range&) {  // 1e400
    throw std::invalid_argument("json: cannot unmarshal number: value out of range");
  }
}

}  // namespace

std::string ReplaceInvalidText(std::string_view text) {
  return ReplaceLoneSurrogates(ToValidUtf8(std::string(text)));
}

json ParseJsonOrYaml(std::string_view text, std::string_view content_type) {
  const bool is_yaml = content_type.find("yaml") != std::string_view::npos;
  if (!is_yaml) return ParseJson(text);
  return ParseYaml(text);
}

}  // namespace kopp::apiserver
