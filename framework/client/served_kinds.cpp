#include "client/served_kinds.hpp"

#include <algorithm>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/detail/resource_path.hpp>

namespace kopp::detail {
namespace {

const char* NameOf(Scope scope) {
  return scope == Scope::kCluster ? "cluster-scoped" : "namespaced";
}

std::string Describe(const OwningKind& kind) { return kind.plural + " of " + kind.api_version; }

}  // namespace

/// Returns an empty list if the server does not support the discovery of groups.
std::vector<ApiGroup> ServedKinds::Groups() const {
  try {
    return discovery_.Groups();
  } catch (const ApiError&) {
    return {};
  } catch (const DecodeError&) {
    return {};
  }
}

const ApiResource* ServedKinds::Find(const std::string& api_version, std::string_view plural) {
  auto version = versions_.find(api_version);
  if (version == versions_.end()) {
    version = versions_.emplace(api_version, discovery_.Resources(api_version)).first;
  }
  const auto& resources = version->second;
  const auto found = std::ranges::find_if(
      resources, [&](const ApiResource& resource) { return resource.kind.plural == plural; });
  return found == resources.end() ? nullptr : &*found;
}

std::string ServedKinds::FindDifference(const OwningKind& kind) {
  const ApiResource* const served = Find(kind.api_version, kind.plural);
  if (served == nullptr) return "does not serve " + Describe(kind) + ExplainMissing(kind);
  if (served->kind.kind != kind.kind) {
    return "serves " + Describe(kind) + " as kind " + served->kind.kind + ", not " + kind.kind +
           ": change the program or the CustomResourceDefinition";
  }
  if (served->kind.scope != kind.scope) {
    return "serves " + Describe(kind) + " as " + NameOf(served->kind.scope) + ", not " +
           NameOf(kind.scope) + ": change the program or the CustomResourceDefinition";
  }
  return "";
}

/// Names the kinds of the same group that differ only in the version or in the plural.
std::string ServedKinds::ExplainMissing(const OwningKind& kind) const {
  std::string similar;
  for (const ApiGroup& group : Groups()) {
    if (group.name != kind.group()) continue;
    for (const ApiVersion& version : group.versions) {
      for (const ApiResource& resource : version.resources) {
        if (resource.kind.plural != kind.plural && resource.kind.kind != kind.kind) continue;
        similar += (similar.empty() ? "" : ", ") + Describe(resource.kind);
      }
    }
  }
  if (!similar.empty()) {
    return ", but " + similar + ": change the program or the CustomResourceDefinition";
  }
  if (IsBuiltInGroup(kind.group())) {
    return ": check the version of the server, and that its address is that of an API server";
  }
  return ": install the CustomResourceDefinition of " + kind.kind + " with kubectl apply";
}

std::string ServedKinds::FindMissingSubresource(const OwningKind& kind,
                                                std::string_view subresource) {
  const ApiResource* const served = Find(kind.api_version, kind.plural);
  if (served == nullptr || subresource.empty() || served->HasSubresource(subresource)) return "";
  return "serves " + Describe(kind) + " without the subresource " + std::string(subresource) +
         ": add it to the CustomResourceDefinition";
}

}  // namespace kopp::detail
