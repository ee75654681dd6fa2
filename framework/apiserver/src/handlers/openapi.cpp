#include "handlers/openapi.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json Parameter(const char* where, const char* name, const char* type) {
  json parameter{
      {"name", name}, {"in", where}, {"schema", {{"type", type}, {"uniqueItems", true}}}};
  if (where == std::string_view("path")) parameter["required"] = true;
  return parameter;
}

/// Returns the path of a group version: "api/v1", "apis/apps/v1".
std::string GroupVersionPath(const Resource& resource) {
  return (resource.group.empty() ? "api/" : "apis/") + resource.api_version();
}

std::string PathOf(const Resource& resource) {
  return '/' + GroupVersionPath(resource) +
         (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural + "/{name}";
}

json PatchPathItem(const Resource& resource) {
  json parameters = json::array({Parameter("path", "name", "string")});
  if (resource.namespaced) parameters.push_back(Parameter("path", "namespace", "string"));
  return {
      {"parameters", parameters},
      {"patch",
       {{"parameters",
         {Parameter("query", "dryRun", "string"), Parameter("query", "fieldManager", "string"),
          Parameter("query", "fieldValidation", "string"), Parameter("query", "force", "boolean")}},
        {"responses", {{"200", {{"description", "OK"}}}, {"201", {{"description", "Created"}}}}},
        {"x-kubernetes-action", "patch"},
        {"x-kubernetes-group-version-kind",
         {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}}}}}};
}

/// Returns the document of an API group version, given by its path, or null if the server does not
/// have it.
json GroupVersionDocument(const std::string& group_version_path, const Catalog& catalog) {
  json paths;
  for (const auto& resource : catalog.all()) {
    if (GroupVersionPath(*resource) == group_version_path) {
      paths[PathOf(*resource)] = PatchPathItem(*resource);
    }
  }
  if (paths.is_null()) return paths;
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "1.34"}}},
          {"paths", std::move(paths)}};
}

json GroupVersionPaths(const Catalog& catalog) {
  json paths;
  for (const auto& resource : catalog.all()) paths[GroupVersionPath(*resource)] = nullptr;
  for (auto& [path, entry] : paths.items()) {
    // Clients cache a document by its URL, so the URL contains a hash of the document.
    const std::size_t hash = std::hash<std::string>()(GroupVersionDocument(path, catalog).dump());
    entry["serverRelativeURL"] = "/openapi/v3/" + path + "?hash=" + std::to_string(hash);
  }
  return {{"paths", std::move(paths)}};
}

/// Returns the empty OpenAPI v2 document. In protobuf it has no bytes.
ServerResponse OpenApiV2Document(const ServerRequest& request) {
  if (request.accept.find("proto") != std::string::npos) {
    return {.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};
  }
  return {.body = R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"1.34"},"paths":{}})"};
}

}  // namespace

std::optional<ServerResponse> HandleOpenApi(const ServerRequest& request, const Catalog& catalog) {
  const RequestInfo& target = request.target;
  if (target.path == "/openapi/v2") return OpenApiV2Document(request);
  const std::string root = "/openapi/v3";
  if (target.path == root) {
    return ServerResponse{.body = GroupVersionPaths(catalog).dump(),
                          .content_type = "text/plain; charset=utf-8"};
  }
  if (!target.path.starts_with(root + '/')) return std::nullopt;
  const json document = GroupVersionDocument(target.path.substr(root.size() + 1), catalog);
  if (document.is_null()) return ServerResponse{.status = 404, .content_type = ""};
  return ServerResponse{.body = document.dump()};
}

}  // namespace kopp::apiserver
