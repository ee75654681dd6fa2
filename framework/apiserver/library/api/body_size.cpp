#include "api/body_size.hpp"

namespace kopp::apiserver {

StatusError TooLarge(const std::string& reason) {
  return {413, "RequestEntityTooLarge", "Request entity too large: " + reason,
          nlohmann::json::object()};
}

StatusError BodyTooLarge() { return TooLarge("limit is " + std::to_string(kMaxBody)); }

void CheckBodySize(const ServerRequest& request) {
  if (request.body.size() > kMaxBody) throw BodyTooLarge();
}

}  // namespace kopp::apiserver
