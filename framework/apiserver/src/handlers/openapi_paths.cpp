#include "handlers/openapi_paths.hpp"

#include "schema/openapi_types.hpp"

#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kPatch = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";

json OpenApiParameter(const char* where, const char* name, const char* type) {
  json parameter{
      {"name", name}, {"in", where}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  if (where == std::string_view("path")) parameter["required"] = true;
  return parameter;
}

json PatchRequestBody(const Resource& resource) {
  const std::string reference = std::string(kOpenApiReferencePrefix) + kPatch;
  const json patch{{"schema", {{"$ref", reference}}}};
  json content{{"application/apply-patch+yaml", patch},
               {"application/json-patch+json", patch},
               {"application/merge-patch+json", patch}};
  if (resource.built_in) content["application/strategic-merge-patch+json"] = patch;
  return {{"content", std::move(content)}, {"required", true}};
}

}  // namespace

std::string GroupVersionPath(const Resource& resource) {
  return (resource.group.empty() ? "api/" : "apis/") + resource.api_version();
}

std::string ObjectPath(const Resource& resource) {
  return '/' + GroupVersionPath(resource) +
         (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural + "/{name}";
}

json OpenApiPathItem(const Resource& resource) {
  const json kind{
      {"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
  const json ok{{"description", "OK"}};
  json parameters = json::array({OpenApiParameter("path", "name", "string")});
  if (resource.namespaced) parameters.push_back(OpenApiParameter("path", "namespace", "string"));
  return {{"parameters", std::move(parameters)},
          {"get",
           {{"responses", {{"200", ok}}},
            {"x-kubernetes-action", "get"},
            {"x-kubernetes-group-version-kind", kind}}},
          {"patch",
           {{"parameters",
             {OpenApiParameter("query", "dryRun", "string"),
              OpenApiParameter("query", "fieldManager", "string"),
              OpenApiParameter("query", "fieldValidation", "string"),
              OpenApiParameter("query", "force", "boolean")}},
            {"requestBody", PatchRequestBody(resource)},
            {"responses", {{"200", ok}, {"201", {{"description", "Created"}}}}},
            {"x-kubernetes-action", "patch"},
            {"x-kubernetes-group-version-kind", kind}}}};
}

}  // namespace kopp::apiserver
