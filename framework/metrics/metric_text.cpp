#include "metrics/metric_text.hpp"

#include <nlohmann/json.hpp>

namespace kopp {

std::string ToUtf8(const std::string& text) {
  using Json = nlohmann::json;
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

}  // namespace kopp
