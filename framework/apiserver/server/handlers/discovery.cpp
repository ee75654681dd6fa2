#include "handlers/discovery.hpp"

#include "api/status.hpp"
#include "api/virtual_resources.hpp"
#include "crd/custom_resources.hpp"
#include "decoding/data.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the versions of an API group in order of preference, the preferred version first.
std::vector<std::string> VersionsOf(const Catalog& catalog, const std::string& group) {
  std::vector<std::string> versions;
  for (const auto& resource : catalog.all()) {
    if (resource->group != group) continue;
    if (std::find(versions.begin(), versions.end(), resource->version) == versions.end()) {
      versions.push_back(resource->version);
    }
  }
  std::sort(versions.begin(), versions.end(), IsPreferredVersion);
  return versions;
}

std::vector<std::string> GroupsOf(const Catalog& catalog) {
  std::vector<std::string> groups;
  for (const auto& resource : catalog.all()) {
    if (std::find(groups.begin(), groups.end(), resource->group) == groups.end()) {
      groups.push_back(resource->group);
    }
  }
  return groups;
}

json GroupVersion(const std::string& group, const std::string& version) {
  return {{"groupVersion", group + '/' + version}, {"version", version}};
}

json Group(const Catalog& catalog, const std::string& group) {
  json versions = json::array();
  for (const std::string& version : VersionsOf(catalog, group)) {
    versions.push_back(GroupVersion(group, version));
  }
  return {{"name", group}, {"versions", versions}, {"preferredVersion", versions.at(0)}};
}

void AddScale(const Resource& resource, json& into) {
  into.push_back({{"name", resource.plural + "/scale"},
                  {"singularName", ""},
                  {"namespaced", resource.namespaced},
                  {"group", "autoscaling"},
                  {"version", "v1"},
                  {"kind", "Scale"},
                  {"verbs", {"get", "patch", "update"}}});
}

/// Adds a subresource with its own kind.
void AddVirtualSubresource(const Resource& resource, const std::string& subresource,
                           const Resource& kind, json& into) {
  json entry{{"name", resource.plural + '/' + subresource},
             {"singularName", ""},
             {"namespaced", resource.namespaced},
             {"kind", kind.kind},
             {"verbs", kind.verbs}};
  if (kind.api_version() != resource.api_version()) {
    entry["group"] = kind.group;
    entry["version"] = kind.version;
  }
  into.push_back(std::move(entry));
}

void AddResource(const Resource& resource, json& into) {
  json entry{{"name", resource.plural},
             {"singularName", resource.singular},
             {"namespaced", resource.namespaced},
             {"kind", resource.kind},
             {"verbs", resource.verbs}};
  if (!resource.short_names.empty()) entry["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) entry["categories"] = resource.categories;
  into.push_back(std::move(entry));
  for (const std::string& subresource : resource.subresources) {
    if (subresource == "scale") {
      AddScale(resource, into);
      continue;
    }
    if (const Resource* kind = FindVirtualSubresource(resource, subresource)) {
      AddVirtualSubresource(resource, subresource, *kind, into);
      continue;
    }
    json verbs{"get", "patch", "update"};
    if (subresource == "finalize") verbs = {"update"};
    into.push_back({{"name", resource.plural + '/' + subresource},
                    {"singularName", ""},
                    {"namespaced", resource.namespaced},
                    {"kind", resource.kind},
                    {"verbs", verbs}});
  }
}

json ResourceList(const Catalog& catalog, const std::string& group, const std::string& version) {
  json resources = json::array();
  for (const auto& resource : catalog.all()) {
    if (resource->group == group && resource->version == version) AddResource(*resource, resources);
  }
  json list{{"kind", "APIResourceList"},
            {"groupVersion", group.empty() ? version : group + '/' + version},
            {"resources", resources}};
  if (!group.empty()) list["apiVersion"] = "v1";
  return list;
}

json AggregatedResource(const Resource& resource) {
  // As in the real server, built-in kinds have neither group nor version here.
  const json kind{{"group", resource.built_in ? "" : resource.group},
                  {"version", resource.built_in ? "" : resource.version},
                  {"kind", resource.kind}};
  json entry{{"resource", resource.plural},
             {"responseKind", kind},
             {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
             {"singularResource", resource.singular},
             {"verbs", resource.verbs}};
  if (!resource.short_names.empty()) entry["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) entry["categories"] = resource.categories;
  for (const std::string& subresource : resource.subresources) {
    json verbs{"get", "patch", "update"};
    if (subresource == "finalize") verbs = {"update"};
    json response = kind;
    if (subresource == "scale") {
      response = {{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}};
    }
    if (const Resource* own_kind = FindVirtualSubresource(resource, subresource)) {
      verbs = own_kind->verbs;
      const bool is_same_version = own_kind->api_version() == resource.api_version();
      response = {{"group", is_same_version ? "" : own_kind->group},
                  {"version", is_same_version ? "" : own_kind->version},
                  {"kind", own_kind->kind}};
    }
    entry["subresources"].push_back(
        {{"subresource", subresource}, {"responseKind", response}, {"verbs", verbs}});
  }
  return entry;
}

json AggregatedGroups(const Catalog& catalog, bool core) {
  json items = json::array();
  for (const std::string& group : GroupsOf(catalog)) {
    if (group.empty() != core) continue;
    json versions = json::array();
    for (const std::string& version : VersionsOf(catalog, group)) {
      json resources = json::array();
      for (const auto& resource : catalog.all()) {
        if (resource->group == group && resource->version == version) {
          resources.push_back(AggregatedResource(*resource));
        }
      }
      versions.push_back(
          {{"version", version}, {"freshness", "Current"}, {"resources", std::move(resources)}});
    }
    json metadata = json::object();
    if (!group.empty()) metadata["name"] = group;
    items.push_back({{"metadata", metadata}, {"versions", std::move(versions)}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

json VersionDocument() {
  return {{"major", "1"},
          {"minor", data::kubernetes_minor},
          {"gitVersion", data::kubernetes_version},
          {"gitTreeState", "clean"},
          {"platform", "linux/amd64"},
          {"compiler", "c++"}};
}

/// Returns the document at "/", which lists the root paths.
json PathsDocument(const Catalog& catalog) {
  std::vector<std::string> paths{"/api",   "/api/v1",  "/apis",   "/healthz",
                                 "/livez", "/metrics", "/readyz", "/version"};
  for (const std::string& group : GroupsOf(catalog)) {
    if (group.empty()) continue;
    paths.push_back("/apis/" + group);
    for (const std::string& version : VersionsOf(catalog, group)) {
      paths.push_back("/apis/" + group + '/' + version);
    }
  }
  std::sort(paths.begin(), paths.end());
  return {{"paths", paths}};
}

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

bool WantsAggregated(const std::string& accept) {
  return accept.find("as=APIGroupDiscoveryList") != std::string::npos &&
         accept.find("g=apidiscovery.k8s.io") != std::string::npos;
}

ServerResponse Json(json body, std::string type = "application/json") {
  return {.body = std::move(body), .content_type = std::move(type)};
}

/// Handles the path /apis and the paths below it.
std::optional<ServerResponse> HandleApis(const RequestInfo& target, const Catalog& catalog) {
  const auto& fields = target.path_segments;
  if (fields.size() == 1) {
    json groups = json::array();
    for (const std::string& group : GroupsOf(catalog)) {
      if (!group.empty()) groups.push_back(Group(catalog, group));
    }
    return Json({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}});
  }
  if (fields.size() == 2 && catalog.HasGroup(fields[1])) {
    json group = Group(catalog, fields[1]);
    group["kind"] = "APIGroup";
    group["apiVersion"] = "v1";
    return Json(std::move(group));
  }
  if (fields.size() == 3 && catalog.HasVersion(fields[1], fields[2])) {
    return Json(ResourceList(catalog, fields[1], fields[2]));
  }
  return std::nullopt;
}

std::optional<ServerResponse> FindDocument(const ServerRequest& request, const Catalog& catalog) {
  const auto& fields = request.target.path_segments;
  if (fields.empty()) return Json(PathsDocument(catalog));
  const std::string& root = fields[0];
  const bool is_root = fields.size() == 1;
  if (is_root && root == "version") return Json(VersionDocument());
  if (is_root && (root == "api" || root == "apis") && WantsAggregated(request.accept)) {
    return Json(AggregatedGroups(catalog, root == "api"), kAggregated);
  }
  if (is_root && root == "api") {
    return Json({{"kind", "APIVersions"},
                 {"versions", {"v1"}},
                 {"serverAddressByClientCIDRs", json::array()}});
  }
  if (fields.size() == 2 && root == "api" && fields[1] == "v1") {
    return Json(ResourceList(catalog, "", "v1"));
  }
  return root == "apis" ? HandleApis(request.target, catalog) : std::nullopt;
}

}  // namespace

std::optional<ServerResponse> HandleDiscovery(const ServerRequest& request,
                                              const Catalog& catalog) {
  std::optional<ServerResponse> response = FindDocument(request, catalog);
  if (!response) return response;
  if (request.method != "GET" && request.method != "HEAD") throw MethodNotAllowed();
  const bool is_plain = response->content_type == "application/json";
  if (is_plain && WantsAggregated(request.accept) &&
      request.accept.find(',') == std::string::npos) {
    throw StatusError(406, "NotAcceptable",
                      "406: Not Acceptable\n\nAvailable representations: application/json",
                      json::object());
  }
  return response;
}

}  // namespace kopp::apiserver
