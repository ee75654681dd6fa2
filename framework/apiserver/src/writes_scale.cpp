// The subresource "scale": an object written as the Scale that it is seen as.
#include "json_patch.hpp"
#include "objects.hpp"
#include "scale.hpp"
#include "status.hpp"
#include "writes.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json Patched(const Ask& ask, const json& scale) {
  const json patch = ReadPatch(ask);
  json patched = scale;
  if (patch.is_object()) {
    patched.merge_patch(patch);
    return patched;
  }
  try {
    return JsonPatched(scale, patch);
  } catch (const std::invalid_argument&) {
    throw Refusal(422, "Invalid", "the server rejected our request due to an error in our request",
                  json::object());
  }
}

/// What the client wants the Scale to be.
json WantedScale(const Ask& ask, const Resource& resource, const WriteOptions& options,
                 const json& live, std::vector<std::string>& warnings) {
  if (ask.method == "PUT") return ReadObject(ask, ScaleKind(), options, warnings);
  const json shown = Shown(ScaleOf(resource, live), ScaleKind());
  return ReadPatched(Patched(ask, shown), ScaleKind(), options, warnings);
}

}  // namespace

Reply Writes::WriteScale(const Ask& ask, const Resource& resource) {
  const bool is_put = ask.method == "PUT";
  const WriteOptions options = ReadWriteOptions(ask, is_put ? "UpdateOptions" : "PatchOptions");
  std::vector<std::string> warnings;
  const auto next = [&](const json& live) {
    warnings.clear();
    const json scale = WantedScale(ask, resource, options, live, warnings);
    const json metadata = scale.value("metadata", json::object());
    if (const std::string name = metadata.value("name", ""); name != ask.target.name) {
      throw BadRequest("the name of the object (" + name +
                       ") does not match the name on the URL (" + ask.target.name + ')');
    }
    json object = Scaled(resource, live, scale);
    // Without a version it is about whatever is there.
    const std::string version = metadata.value("resourceVersion", "");
    if (!version.empty()) object["metadata"]["resourceVersion"] = version;
    return object;
  };
  const json object =
      Change({ask, resource, options, is_put ? How::kPut : How::kPatch, next}, warnings);
  Reply reply{.body = Shown(ScaleOf(resource, object), ScaleKind()).dump()};
  reply.warnings = std::move(warnings);
  return reply;
}

}  // namespace kopp::apiserver
