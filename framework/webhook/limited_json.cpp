#include "webhook/limited_json.hpp"

#include "schema/max_depth.hpp"

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp {

nlohmann::json ParseLimited(std::string_view text) {
  using nlohmann::json;
  const auto check_depth = [](int depth, json::parse_event_t, const json&) {
    if (depth <= static_cast<int>(schema::kMaxJsonDepth)) return true;
    throw std::invalid_argument("JSON is nested deeper than " +
                                std::to_string(schema::kMaxJsonDepth) + " levels");
  };
  try {
    return json::parse(text, check_depth);
  } catch (const json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace kopp
