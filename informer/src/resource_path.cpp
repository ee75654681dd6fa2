#include <kopp/informer/resource_path.hpp>

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

}  // namespace kopp
