#pragma once

#include "storage/server_context.hpp"

namespace kopp::apiserver {

/// Creates the objects that every new cluster has: the system namespaces, the Service "kubernetes",
/// the role of administrators, the system PriorityClasses, and an APIService for each served
/// version of an API group. With RBAC, also the ClusterRoles admin, edit and view, and the
/// ClusterRoles and ClusterRoleBindings that let every user discover the API and ask for its own
/// permissions.
void CreateSystemObjects(ServerContext& context);

}  // namespace kopp::apiserver
