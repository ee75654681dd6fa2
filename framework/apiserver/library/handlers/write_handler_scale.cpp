// Update and patch of the subresource "scale".
#include "api/patch_body.hpp"
#include "api/status.hpp"
#include "handlers/scale.hpp"
#include "handlers/write_handler.hpp"
#include "storage/stored_objects.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the Scale that the client has sent, or the current Scale with the client's patch
/// applied.
json DecodeScale(const ServerRequest& request, const Resource& resource,
                 const WriteOptions& options, const json& live, Warnings& warnings) {
  if (request.method == "PUT") return DecodeObject(request, ScaleKind(), options, warnings);
  const json shown = ResponseObject(ScaleOf(resource, live), ScaleKind());
  if (request.media_type() == kStrategicMergePatch) {
    return ApplyStrategicMergePatchBody(request, ScaleKind(), options, shown, warnings);
  }
  return DecodePatchedObject(ApplyPatch(DecodePatch(request), shown), ScaleKind(), options,
                             warnings);
}

}  // namespace

ServerResponse WriteHandler::WriteScale(const ServerRequest& request, const Resource& resource,
                                        Warnings& warnings) {
  const bool is_put = request.method == "PUT";
  const WriteOptions options = ReadWriteOptions(request, is_put ? "UpdateOptions" : "PatchOptions");
  const auto update = [&](const json& live) {
    const json scale = DecodeScale(request, resource, options, live, warnings);
    const json metadata = scale.value("metadata", json::object());
    if (const std::string name = metadata.value("name", ""); name != request.target.name) {
      throw BadRequest("the name of the object (" + name +
                       ") does not match the name on the URL (" + request.target.name + ')');
    }
    json object = WithReplicas(resource, live, scale);
    // Without a resourceVersion the update is unconditional.
    const std::string version = metadata.value("resourceVersion", "");
    if (!version.empty()) object["metadata"]["resourceVersion"] = version;
    return object;
  };
  const json object = UpdateObject(
      {request, resource, options, is_put ? WriteKind::kPut : WriteKind::kPatch, update}, warnings);
  return {.body = ResponseObject(ScaleOf(resource, object), ScaleKind())};
}

}  // namespace kopp::apiserver
