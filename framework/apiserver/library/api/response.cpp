#include "api/response.hpp"

namespace kopp::apiserver {

using nlohmann::json;

json ResponseBody::ToValue() const {
  if (value() != nullptr) return *value();
  return json::parse(text(), nullptr, /*allow_exceptions=*/false);
}

void EncodeBody(ServerResponse& response) {
  const json* value = response.body.value();
  if (value == nullptr) return;
  std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (response.content_type.starts_with("application/json")) text += '\n';
  response.body = std::move(text);
}

}  // namespace kopp::apiserver
