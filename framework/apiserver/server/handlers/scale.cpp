#include "handlers/scale.hpp"

#include "api/content_type.hpp"
#include "api/patch_body.hpp"
#include "api/request_body.hpp"
#include "api/status.hpp"
#include "handlers/write_handler.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"
#include "storage/object_responses.hpp"

#include <algorithm>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string SelectorOf(const Resource& resource, const json& object) {
  if (!resource.built_in) {
    if (resource.scale.selector.empty()) return "";
    const json& selector = ValueAt(object, resource.scale.selector);
    return selector.is_string() ? selector.get<std::string>() : "";
  }
  const json& selector = ValueAt(object, "/spec/selector");
  return selector.is_object() ? SelectorText(selector) : "";
}

/// Converts a JSON pointer to the JSONPath form of a CRD: ".spec.replicas".
std::string JsonPathOf(std::string pointer) {
  std::replace(pointer.begin(), pointer.end(), '/', '.');
  return pointer;
}

Resource MakeScaleKind() {
  Resource resource;
  resource.group = "autoscaling";
  resource.version = "v1";
  resource.kind = "Scale";
  resource.plural = "scales";
  resource.columns = {{.name = "Name", .type = "string"},
                      {.name = "Desired", .type = "integer"},
                      {.name = "Available", .type = "integer"},
                      {.name = "Age", .type = "string"}};
  resource.schema = Schemas::BuiltIn().Find("Scale");
  return resource;
}

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

const Resource& ScaleKind() {
  static const Resource kind = MakeScaleKind();
  return kind;
}

json ScaleOf(const Resource& resource, const json& object) {
  json scale{{"metadata", json::object()}, {"spec", json::object()}, {"status", json::object()}};
  for (const char* name : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const auto& metadata = object.at("metadata");
    if (metadata.contains(name)) scale["metadata"][name] = metadata[name];
  }
  const json& spec_replicas = ValueAt(object, resource.scale.spec);
  if (!resource.built_in && spec_replicas.is_null()) {
    throw StatusError(500, "InternalError",
                      "Internal error occurred: the spec replicas field \"" +
                          JsonPathOf(resource.scale.spec) + "\" does not exist");
  }
  if (spec_replicas.is_number() && spec_replicas != 0) scale["spec"]["replicas"] = spec_replicas;
  const json& status_replicas = ValueAt(object, resource.scale.status);
  scale["status"]["replicas"] = status_replicas.is_number() ? status_replicas : json(0);
  if (const std::string selector = SelectorOf(resource, object); !selector.empty()) {
    scale["status"]["selector"] = selector;
  }
  return scale;
}

json WithReplicas(const Resource& resource, json object, const json& scale) {
  const json& value = ValueAt(scale, "/spec/replicas");
  const json replicas = value.is_null() ? json(0) : value;
  // For a custom resource, the validation of the object reports the error.
  if (replicas < 0 && resource.built_in) {
    throw Invalid(ScaleKind(), object["metadata"].value("name", ""),
                  {InvalidValue("spec.replicas", replicas, "must be greater than or equal to 0")});
  }
  object[json::json_pointer(resource.scale.spec)] = replicas;
  return object;
}

ServerResponse WriteHandler::WriteScale(const ServerRequest& request, const Resource& resource,
                                        Warnings& warnings) {
  const bool is_put = request.method == "PUT";
  const WriteRequest write(request, resource);
  const auto update = [&](const json& live) {
    const json scale = MutateScale(
        write, live, DecodeScale(request, resource, write.options, live, warnings), warnings);
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
  const json object =
      UpdateObject({write, is_put ? WriteKind::kPut : WriteKind::kPatch, update}, warnings);
  return {.body = ResponseObject(ScaleOf(resource, object), ScaleKind())};
}

}  // namespace kopp::apiserver
