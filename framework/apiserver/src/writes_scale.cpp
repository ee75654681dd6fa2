// The subresource "scale": an object written as the Scale that it is seen as.
#include "objects.hpp"
#include "patch_body.hpp"
#include "scale.hpp"
#include "status.hpp"
#include "writes.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// What the client wants the Scale to be.
json WantedScale(const Ask& ask, const Resource& resource, const WriteOptions& options,
                 const json& live, Warnings& warnings) {
  if (ask.method == "PUT") return ReadObject(ask, ScaleKind(), options, warnings);
  const json shown = Shown(ScaleOf(resource, live), ScaleKind());
  return ReadPatched(Patched(ReadPatch(ask), shown), ScaleKind(), options, warnings);
}

}  // namespace

Reply Writes::WriteScale(const Ask& ask, const Resource& resource, Warnings& warnings) {
  const bool is_put = ask.method == "PUT";
  const WriteOptions options = ReadWriteOptions(ask, is_put ? "UpdateOptions" : "PatchOptions");
  const auto next = [&](const json& live) {
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
  return {.body = Shown(ScaleOf(resource, object), ScaleKind()).dump()};
}

}  // namespace kopp::apiserver
