#include "json_text.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void AppendObject(std::string& out, const json::object_t& members) {
  out += '{';
  for (const auto& [key, value] : members) {
    AppendJsonKey(out, key);
    AppendJson(out, value);
  }
  out += '}';
}

void AppendArray(std::string& out, const json::array_t& elements) {
  out += '[';
  for (const json& element : elements) {
    if (out.back() != '[') out += ',';
    AppendJson(out, element);
  }
  out += ']';
}

}  // namespace

void AppendJson(std::string& out, const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return AppendObject(out, value.get_ref<const json::object_t&>());
    case json::value_t::array:
      return AppendArray(out, value.get_ref<const json::array_t&>());
    case json::value_t::string:
      return AppendJsonString(out, value.get_ref<const std::string&>());
    case json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case json::value_t::number_integer:
      out += std::to_string(value.get<json::number_integer_t>());
      return;
    case json::value_t::number_unsigned:
      out += std::to_string(value.get<json::number_unsigned_t>());
      return;
    default:
      out += value.dump();
  }
}

void AppendJsonString(std::string& out, std::string_view text) {
  if (std::ranges::all_of(text, IsPlain)) {  // the common case
    out.append("\"").append(text).append("\"");
  } else {
    out += json(text).dump();
  }
}

void AppendJsonKey(std::string& out, std::string_view key) {
  if (!out.ends_with('{')) out += ',';
  AppendJsonString(out, key);
  out += ':';
}

}  // namespace kopp::detail
