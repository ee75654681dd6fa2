#pragma once

#include <string>
#include <vector>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A permission that a program needs: a rule of RBAC. Go: PolicyRule in k8s.io/api/rbac/v1.
struct Permission {
  std::string group = {};     ///< "apps"; "" for the core group
  std::string resource = {};  ///< "deployments", or "foos/status" for a subresource
  std::vector<std::string> verbs = {};
  std::vector<std::string> names = {};  ///< only of these objects; empty: of all
  std::string ns = {};                  ///< in this namespace; empty: where the program watches
  bool cluster_scoped = false;          ///< the objects have no namespace

  friend bool operator==(const Permission&, const Permission&) = default;
};

/// Returns the permission for `verbs` on the objects of `kind`, or on one of their subresources.
[[nodiscard]] Permission PermissionFor(const Kind& kind, std::vector<std::string> verbs,
                                       const std::string& subresource = "");

/// Returns the permissions sorted, with one rule for all verbs on the same objects.
[[nodiscard]] std::vector<Permission> Merge(const std::vector<Permission>& permissions);

/// Where PrintRbac grants permissions.
struct RbacOptions {
  std::string name = {};                     ///< of the Roles and the ClusterRole
  std::vector<std::string> namespaces = {};  ///< that the program watches; empty: all
};

/// Returns the permissions as YAML for `kubectl apply`: a ClusterRole, or a Role for each of
/// options.namespaces and a ClusterRole for the objects without a namespace; and a Role for each
/// namespace that has permissions of its own.
[[nodiscard]] std::string PrintRbac(const std::vector<Permission>& permissions,
                                    const RbacOptions& options);

}  // namespace kopp
