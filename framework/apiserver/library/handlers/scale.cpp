#include "handlers/scale.hpp"

#include "api/status.hpp"
#include "json/label_text.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
  return selector.is_object() ? FormatSelector(selector) : "";
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

}  // namespace kopp::apiserver
