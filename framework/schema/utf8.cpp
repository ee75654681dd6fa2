#include "schema/utf8.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kopp::schema {

std::string ToValidUtf8(std::string text) {
  using nlohmann::json;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  const std::string valid = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(valid).get<std::string>();
}

}  // namespace kopp::schema
