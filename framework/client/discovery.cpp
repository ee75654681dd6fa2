#include "client/resource_path.hpp"
#include "client/response_check.hpp"

#include <algorithm>
#include <stdexcept>

#include <kopp/discovery.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

// Kubernetes 1.30 and newer serve v2; v2beta1 of 1.27 to 1.29 has the same fields. Older servers
// ignore the first two and send the last.
constexpr const char* kAcceptAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// apidiscovery.k8s.io/v2 APIGroupDiscoveryList: the resources of all groups.
struct AggregatedGroups {
  struct ResponseKind {
    std::string kind;
  };
  struct Subresource {
    std::string subresource;
  };
  struct Resource {
    std::string resource;
    ResponseKind responseKind;
    std::string scope;
    std::string singularResource;
    std::vector<std::string> verbs;
    std::vector<std::string> shortNames;
    std::vector<Subresource> subresources;
  };
  struct Version {
    std::string version;
    std::string freshness;
    std::vector<Resource> resources;
  };
  struct Metadata {
    std::string name;
  };
  struct Group {
    Metadata metadata;
    std::vector<Version> versions;
  };
  std::vector<Group> items;
};
KOPP_FIELDS(AggregatedGroups::ResponseKind, kind)
KOPP_FIELDS(AggregatedGroups::Subresource, subresource)
KOPP_FIELDS(AggregatedGroups::Resource, resource, responseKind, scope, singularResource, verbs,
            shortNames, subresources)
KOPP_FIELDS(AggregatedGroups::Version, version, freshness, resources)
KOPP_FIELDS(AggregatedGroups::Metadata, name)
KOPP_FIELDS(AggregatedGroups::Group, metadata, versions)
KOPP_FIELDS(AggregatedGroups, items)

/// metav1.APIGroupList: the groups without their resources, except the core group.
struct GroupList {
  struct Version {
    std::string version;
  };
  struct Group {
    std::string name;
    std::vector<Version> versions;
    Version preferredVersion;
  };
  std::vector<Group> groups;
};
KOPP_FIELDS(GroupList::Version, version)
KOPP_FIELDS(GroupList::Group, name, versions, preferredVersion)
KOPP_FIELDS(GroupList, groups)

/// metav1.APIVersions: the versions of the core group.
struct CoreVersions {
  std::vector<std::string> versions;
};
KOPP_FIELDS(CoreVersions, versions)

/// metav1.APIResourceList: the resources of one version of a group, with subresources such as
/// "deployments/scale".
struct ResourceList {
  struct Resource {
    std::string name;
    std::string singularName;
    bool namespaced = false;
    std::string kind;
    std::vector<std::string> verbs;
    std::vector<std::string> shortNames;
  };
  std::vector<Resource> resources;
};
KOPP_FIELDS(ResourceList::Resource, name, singularName, namespaced, kind, verbs, shortNames)
KOPP_FIELDS(ResourceList, resources)

/// The type of a response. Each of the documents above has one.
struct TypeMeta {
  std::string kind;
};
KOPP_FIELDS(TypeMeta, kind)

Scope ScopeOf(bool namespaced) { return namespaced ? Scope::kNamespaced : Scope::kCluster; }

std::string ApiVersionOf(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group).append("/").append(version);
}

[[noreturn]] void ThrowUnexpected(const std::string& path, const std::string& problem) {
  throw detail::NotFromApiServer("GET " + path, problem);
}

/// Decodes the response to a GET of `path`.
template <typename T>
T DecodeResponse(const std::string& path, const std::string& body) {
  try {
    return Decode<T>(body);
  } catch (const DecodeError& error) {
    ThrowUnexpected(path, error.what());
  }
}

ApiResource ToApiResource(const std::string& api_version, AggregatedGroups::Resource& from) {
  ApiResource resource{.kind = Kind{api_version, from.responseKind.kind, from.resource,
                                    ScopeOf(from.scope == "Namespaced")},
                       .singular = std::move(from.singularResource),
                       .short_names = std::move(from.shortNames),
                       .verbs = std::move(from.verbs)};
  for (auto& [name] : from.subresources) resource.subresources.push_back(std::move(name));
  return resource;
}

ApiGroup ToApiGroup(AggregatedGroups::Group& from) {
  ApiGroup group{.name = std::move(from.metadata.name)};
  for (AggregatedGroups::Version& version : from.versions) {
    const std::string api_version = ApiVersionOf(group.name, version.version);
    ApiVersion& to = group.versions.emplace_back(ApiVersion{.version = version.version});
    for (AggregatedGroups::Resource& resource : version.resources) {
      if (resource.responseKind.kind.empty()) continue;  // it has subresources only
      to.resources.push_back(ToApiResource(api_version, resource));
    }
    if (version.freshness == "Stale") {
      to.problem = "the server of this aggregated API does not respond: check the APIService " +
                   version.version + '.' + group.name;
    }
  }
  return group;
}

std::vector<ApiResource> ToApiResources(std::string_view api_version, ResourceList list) {
  std::vector<ApiResource> resources;
  for (ResourceList::Resource& from : list.resources) {
    if (from.name.find('/') != std::string::npos) continue;
    resources.push_back({.kind = Kind{api_version, from.kind, from.name, ScopeOf(from.namespaced)},
                         .singular = std::move(from.singularName),
                         .short_names = std::move(from.shortNames),
                         .verbs = std::move(from.verbs)});
  }
  for (const ResourceList::Resource& from : list.resources) {
    const auto slash = from.name.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view parent = std::string_view(from.name).substr(0, slash);
    const auto found = std::ranges::find_if(
        resources, [&](const ApiResource& resource) { return resource.kind.plural == parent; });
    if (found != resources.end()) found->subresources.push_back(from.name.substr(slash + 1));
  }
  return resources;
}

/// Returns the group with its versions, the preferred version first, but without their resources.
ApiGroup ToApiGroup(const GroupList::Group& from) {
  ApiGroup group{.name = from.name};
  for (const auto& [version] : from.versions) group.versions.push_back({.version = version});
  std::ranges::stable_partition(group.versions, [&](const ApiVersion& version) {
    return version.version == from.preferredVersion.version;
  });
  return group;
}

/// Returns the groups of a response without resources: a document of a server that does not know
/// aggregated discovery.
std::vector<ApiGroup> GroupsWithoutResources(const std::string& path, const std::string& kind,
                                             const std::string& body) {
  std::vector<ApiGroup> groups;
  if (kind == "APIVersions") {
    ApiGroup& core = groups.emplace_back();
    for (const std::string& version : DecodeResponse<CoreVersions>(path, body).versions) {
      core.versions.push_back({.version = version});
    }
  } else if (kind == "APIGroupList") {
    for (const auto& group : DecodeResponse<GroupList>(path, body).groups) {
      groups.push_back(ToApiGroup(group));
    }
  } else {
    ThrowUnexpected(path, "its kind is \"" + kind + "\"");
  }
  return groups;
}

}  // namespace

bool ApiResource::HasVerb(std::string_view verb) const {
  return std::ranges::find(verbs, verb) != verbs.end();
}

bool ApiResource::HasSubresource(std::string_view subresource) const {
  return std::ranges::find(subresources, subresource) != subresources.end();
}

std::vector<ApiGroup> DiscoveryClient::Groups() const {
  std::vector<ApiGroup> groups;
  AddGroups("/api", groups);
  AddGroups("/apis", groups);
  return groups;
}

void DiscoveryClient::AddGroups(const std::string& path, std::vector<ApiGroup>& groups) const {
  const std::string body = Get(path, kAcceptAggregated).body;
  const std::string kind = DecodeResponse<TypeMeta>(path, body).kind;
  if (kind == "APIGroupDiscoveryList") {
    for (auto& group : DecodeResponse<AggregatedGroups>(path, body).items) {
      groups.push_back(ToApiGroup(group));
    }
    return;
  }
  for (ApiGroup& group : GroupsWithoutResources(path, kind, body)) {
    for (ApiVersion& version : group.versions) ReadVersion(group.name, version);
    groups.push_back(std::move(group));
  }
}

// Sets `version.resources`, or `version.problem` if they cannot be read.
void DiscoveryClient::ReadVersion(std::string_view group, ApiVersion& version) const {
  try {
    version.resources = Resources(ApiVersionOf(group, version.version));
  } catch (const ApiError& error) {
    version.problem = error.what();
  } catch (const DecodeError& error) {
    version.problem = error.what();
  } catch (const std::invalid_argument& error) {  // its name cannot be in a path
    version.problem = error.what();
  } catch (const TransportError& error) {
    // The server of an aggregated API may hang. Any other failure concerns the API server itself.
    if (error.kind() != TransportError::Kind::kTimeout) throw;
    version.problem = error.what();
  }
}

std::vector<ApiResource> DiscoveryClient::Resources(std::string_view api_version) const {
  const std::string path = detail::VersionPath(api_version);
  try {
    const std::string body = Get(path, "application/json").body;
    const std::string kind = DecodeResponse<TypeMeta>(path, body).kind;
    if (kind != "APIResourceList") ThrowUnexpected(path, "its kind is \"" + kind + "\"");
    return ToApiResources(api_version, DecodeResponse<ResourceList>(path, body));
  } catch (const ApiError& error) {
    if (detail::IsNotFoundByServer(error)) return {};
    throw;
  }
}

ApiResponse DiscoveryClient::Get(const std::string& path, const std::string& accept) const {
  ApiResponse response = transport_->Call({.target = path, .accept = accept}, stop_);
  if (response.status == 200) {
    detail::RequireJsonObject("GET", path, response.body);
    return response;
  }
  throw ApiError::FromBody("GET " + path, response.status, response.body, response.retry_after);
}

}  // namespace kopp
