#include "openapi/openapi_document.hpp"

#include "kubectl_data.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

/// Returns the strings between `prefix` and the next quote, for each `prefix` in `text`.
std::vector<std::string_view> QuotedAfter(std::string_view prefix, std::string_view text) {
  std::vector<std::string_view> found;
  for (auto at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at)) {
    at += prefix.size();
    const auto end = std::min(text.find('"', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  return found;
}

/// Returns the position of the first line after `start` that is not indented.
std::size_t NextEntry(std::string_view text, std::size_t start) {
  auto at = text.find('\n', start);
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == ' ') {
    at = text.find('\n', at + 1);
  }
  return at == std::string_view::npos ? text.size() : at + 1;
}

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

OpenApiTypes::OpenApiTypes(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t next = NextEntry(text, start);
    std::string_view entry = text.substr(start, next - start);
    start = next;
    const auto name_end = entry.find("\":");
    if (!entry.starts_with('"') || name_end == std::string_view::npos) continue;
    while (entry.ends_with('\n') || entry.ends_with(',')) entry.remove_suffix(1);
    entries_.emplace(entry.substr(1, name_end - 1), entry.substr(name_end + 2));
  }
}

const OpenApiTypes& OpenApiTypes::BuiltIn() {
  static const OpenApiTypes types(data::openapi);
  return types;
}

std::string_view OpenApiTypes::Find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::string_view() : found->second;
}

OpenApiTypes::Names OpenApiTypes::TypesOfDocument(std::string_view path) const {
  return Closure(QuotedAfter("\"", Find(path)));
}

OpenApiTypes::Names OpenApiTypes::Closure(std::vector<std::string_view> roots) const {
  Names names;
  while (!roots.empty()) {
    const auto found = entries_.find(roots.back());
    roots.pop_back();
    if (found == entries_.end() || !names.insert(found->first).second) continue;
    const auto references = QuotedAfter(kOpenApiReferencePrefix, found->second);
    roots.insert(roots.end(), references.begin(), references.end());
  }
  return names;
}

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
