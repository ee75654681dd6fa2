#pragma once

#include <optional>
#include <string_view>

namespace kopp {

/// The parts of the URL path of a request for objects, such as
/// "/apis/apps/v1/namespaces/shop/deployments/web/status". Does not own its strings. Go:
/// RequestInfo in k8s.io/apiserver.
struct ResourcePath {
  std::string_view group = {};        ///< "apps"; empty for the core group
  std::string_view version = {};      ///< "v1"
  std::string_view ns = {};           ///< "shop"; empty for a cluster-scoped kind, and for a list
                                      ///< in all namespaces
  std::string_view resource = {};     ///< "deployments"
  std::string_view name = {};         ///< "web"; empty for a collection
  std::string_view subresource = {};  ///< "status"; empty for the object itself
};

/// Parses a request target: a path, and an optional query, which is ignored. Does not decode
/// percent-encoding. Returns nullopt for a path without a resource, such as "/version" or
/// "/apis/apps/v1". The views refer to `target`.
[[nodiscard]] std::optional<ResourcePath> ParseResourcePath(std::string_view target);

/// Returns whether Kubernetes itself serves the API group, such as "" or "networking.k8s.io", so
/// that no CustomResourceDefinition is missing if a kind of it is not served.
[[nodiscard]] bool IsBuiltInGroup(std::string_view group);

}  // namespace kopp
