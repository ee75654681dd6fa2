#include "openapi.hpp"

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

/// "api/v1", "apis/apps/v1".
std::string GroupVersionPath(const Resource& resource) {
  return (resource.group.empty() ? "api/" : "apis/") + resource.api_version();
}

std::string PathOf(const Resource& resource) {
  return '/' + GroupVersionPath(resource) +
         (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural + "/{name}";
}

json Patching(const Resource& resource) {
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

/// Of one version of a group; null where nothing is served there.
json DocumentOf(const std::string& place, const Catalog& catalog) {
  json paths;
  for (const auto& resource : catalog.all()) {
    if (GroupVersionPath(*resource) == place) paths[PathOf(*resource)] = Patching(*resource);
  }
  if (paths.is_null()) return paths;
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Kubernetes"}, {"version", "1.34"}}},
          {"paths", std::move(paths)}};
}

json GroupVersionPaths(const Catalog& catalog) {
  json places;
  for (const auto& resource : catalog.all()) places[GroupVersionPath(*resource)] = nullptr;
  for (auto& [place, said] : places.items()) {
    // Clients keep a document for as long as its address is the same.
    const std::size_t hash = std::hash<std::string>()(DocumentOf(place, catalog).dump());
    said["serverRelativeURL"] = "/openapi/v3/" + place + "?hash=" + std::to_string(hash);
  }
  return {{"paths", std::move(places)}};
}

/// Of what was before version 3: it tells nothing. In protobuf that takes no bytes.
Reply OldDocument(const Ask& ask) {
  if (ask.accept.find("proto") != std::string::npos) {
    return {.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};
  }
  return {.body = R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"1.34"},"paths":{}})"};
}

}  // namespace

std::optional<Reply> DescribeApi(const Ask& ask, const Catalog& catalog) {
  const Target& target = ask.target;
  if (target.path == "/openapi/v2") return OldDocument(ask);
  const std::string root = "/openapi/v3";
  if (target.path == root) {
    return Reply{.body = GroupVersionPaths(catalog).dump(),
                 .content_type = "text/plain; charset=utf-8"};
  }
  if (!target.path.starts_with(root + '/')) return std::nullopt;
  const json document = DocumentOf(target.path.substr(root.size() + 1), catalog);
  if (document.is_null()) return Reply{.status = 404, .content_type = ""};
  return Reply{.body = document.dump()};
}

}  // namespace kopp::apiserver
