#include "utf8.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

std::string AsUtf8(std::string text) {
  using nlohmann::json;
  const auto is_ascii = [](char each) { return static_cast<unsigned char>(each) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  const std::string shown = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(shown).get<std::string>();
}

}  // namespace kopp::apiserver
