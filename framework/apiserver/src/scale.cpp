#include "scale.hpp"

#include "at.hpp"
#include "cells.hpp"
#include "status.hpp"

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
    const json& selector = At(object, resource.scale.selector);
    return selector.is_string() ? selector.get<std::string>() : "";
  }
  const json& selector = At(object, "/spec/selector");
  return selector.is_object() ? SelectorInWords(selector) : "";
}

/// As a CRD has it.
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
  const json& wanted = At(object, resource.scale.spec);
  if (!resource.built_in && wanted.is_null()) {
    throw Refusal(500, "InternalError",
                  "Internal error occurred: the spec replicas field \"" +
                      JsonPathOf(resource.scale.spec) + "\" does not exist");
  }
  if (wanted.is_number() && wanted != 0) scale["spec"]["replicas"] = wanted;
  const json& there = At(object, resource.scale.status);
  scale["status"]["replicas"] = there.is_number() ? there : json(0);
  if (const std::string selector = SelectorOf(resource, object); !selector.empty()) {
    scale["status"]["selector"] = selector;
  }
  return scale;
}

json Scaled(const Resource& resource, json object, const json& scale) {
  const json& given = At(scale, "/spec/replicas");
  const json replicas = given.is_null() ? json(0) : given;
  // That of a custom resource is found in the object.
  if (replicas < 0 && resource.built_in) {
    throw Invalid(ScaleKind(), object["metadata"].value("name", ""),
                  {InvalidValue("spec.replicas", replicas, "must be greater than or equal to 0")});
  }
  object[json::json_pointer(resource.scale.spec)] = replicas;
  return object;
}

}  // namespace kopp::apiserver
