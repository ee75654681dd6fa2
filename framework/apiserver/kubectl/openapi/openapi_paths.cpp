#include "kubectl/openapi/openapi_paths.hpp"

#include "kubectl/openapi/openapi_types.hpp"

#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kOpenApiPatchType = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

json OpenApiParameter(const char* where, const char* name, const char* type) {
  json parameter{
      {"name", name}, {"in", where}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  if (where == std::string_view("path")) parameter["required"] = true;
  return parameter;
}

json PatchRequestBody(const Resource& resource) {
  const std::string reference = std::string(kOpenApiReferencePrefix) + kOpenApiPatchType;
  const json patch{{"schema", {{"$ref", reference}}}};
  json content{{"application/apply-patch+yaml", patch},
               {"application/json-patch+json", patch},
               {"application/merge-patch+json", patch}};
  if (resource.built_in) content["application/strategic-merge-patch+json"] = patch;
  return {{"content", std::move(content)}, {"required", true}};
}

/// Returns an operation of a resource with its kind. `action` is "get", "post" or "patch".
json OpenApiOperation(const Resource& resource, const char* action) {
  return {{"responses", {{"200", {{"description", "OK"}}}}},
          {"x-kubernetes-action", action},
          {"x-kubernetes-group-version-kind",
           {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}}};
}

json PatchOperation(const Resource& resource) {
  json operation = OpenApiOperation(resource, "patch");
  operation["parameters"] = {OpenApiParameter("query", "dryRun", "string"),
                             OpenApiParameter("query", "fieldManager", "string"),
                             OpenApiParameter("query", "fieldValidation", "string"),
                             OpenApiParameter("query", "force", "boolean")};
  operation["requestBody"] = PatchRequestBody(resource);
  operation["responses"]["201"]["description"] = "Created";
  return operation;
}

}  // namespace

std::string GroupVersionPath(const Resource& resource) {
  return (resource.group.empty() ? "api/" : "apis/") + resource.api_version();
}

void AddOpenApiPaths(const Resource& resource, json& paths) {
  const std::string collection = '/' + GroupVersionPath(resource) +
                                 (resource.namespaced ? "/namespaces/{namespace}/" : "/") +
                                 resource.plural;
  json parameters = json::array();
  if (resource.namespaced) parameters.push_back(OpenApiParameter("path", "namespace", "string"));
  if (resource.SupportsVerb("create")) {
    paths[collection] = {{"parameters", parameters}, {"post", OpenApiOperation(resource, "post")}};
  }
  if (!resource.SupportsVerb("get")) return;
  parameters.push_back(OpenApiParameter("path", "name", "string"));
  json& object = paths[collection + "/{name}"];
  object = {{"parameters", std::move(parameters)}, {"get", OpenApiOperation(resource, "get")}};
  if (resource.SupportsVerb("patch")) object["patch"] = PatchOperation(resource);
}

}  // namespace kopp::apiserver
