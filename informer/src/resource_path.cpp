#include <algorithm>
#include <array>

#include <kopp/informer/detail/resource_path.hpp>

namespace kopp {
namespace {

// Removes the first segment of `path` and returns it; empty if there is none.
std::string_view PopSegment(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace

std::optional<ResourcePath> ParseResourcePath(std::string_view target) {
  std::string_view rest = target.substr(0, target.find('?'));
  const std::string_view root = PopSegment(rest);
  if (root != "api" && root != "apis") return std::nullopt;
  ResourcePath path;
  if (root == "apis") path.group = PopSegment(rest);
  path.version = PopSegment(rest);
  path.resource = PopSegment(rest);
  path.name = PopSegment(rest);
  path.subresource = PopSegment(rest);
  const bool in_namespace = path.resource == "namespaces" && !path.subresource.empty() &&
                            path.subresource != "status" && path.subresource != "finalize";
  if (in_namespace) {
    path.ns = path.name;
    path.resource = path.subresource;
    path.name = PopSegment(rest);
    path.subresource = PopSegment(rest);
  }
  if (path.resource.empty()) return std::nullopt;
  return path;
}

// The name of a CustomResourceDefinition's group has a dot.
bool IsBuiltInGroup(std::string_view group) {
  constexpr std::array<std::string_view, 18> kGroups{"admissionregistration.k8s.io",
                                                     "apiextensions.k8s.io",
                                                     "apiregistration.k8s.io",
                                                     "authentication.k8s.io",
                                                     "authorization.k8s.io",
                                                     "certificates.k8s.io",
                                                     "coordination.k8s.io",
                                                     "discovery.k8s.io",
                                                     "events.k8s.io",
                                                     "flowcontrol.apiserver.k8s.io",
                                                     "internal.apiserver.k8s.io",
                                                     "networking.k8s.io",
                                                     "node.k8s.io",
                                                     "rbac.authorization.k8s.io",
                                                     "resource.k8s.io",
                                                     "scheduling.k8s.io",
                                                     "storage.k8s.io",
                                                     "storagemigration.k8s.io"};
  return group.find('.') == std::string_view::npos ||
         std::find(kGroups.begin(), kGroups.end(), group) != kGroups.end();
}

}  // namespace kopp
