#include "api/content_type.hpp"

#include "api/status.hpp"

#include <string>

namespace kopp::apiserver {

void CheckMediaType(const ServerRequest& request, const Resource& resource) {
  const std::string type = request.media_type();
  if (type.empty() || type == "application/json" || type == "application/yaml") return;
  if (request.body_error && resource.built_in) return;
  throw StatusError(
      415, "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

void CheckPatchType(const ServerRequest& request, const Resource& resource) {
  const std::string type = request.media_type();
  if (type == "application/merge-patch+json" || type == "application/json-patch+json" ||
      type == kApplyPatch) {
    return;
  }
  if (type == kStrategicMergePatch && resource.built_in) return;
  constexpr const char* kReason = "UnsupportedMediaType";
  if (!resource.built_in) {
    throw StatusError(
        415, kReason,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/apply-patch+yaml");
  }
  throw StatusError(415, kReason, "415: Unsupported Media Type", nlohmann::json::object());
}

}  // namespace kopp::apiserver
