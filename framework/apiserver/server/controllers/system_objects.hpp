#pragma once

#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Creates an object that the control plane writes, with a uid and a creation time.
void CreateObject(ServerContext& context, const std::string& storage_resource,
                  nlohmann::json object);

/// Creates the objects that every new cluster has: the system namespaces, the Service "kubernetes",
/// the role of administrators, the system PriorityClasses, and an APIService for each served
/// version of an API group. With RBAC, also the ClusterRoles admin, edit and view, and the
/// ClusterRoles and ClusterRoleBindings that let every user discover the API and ask for its own
/// permissions.
void CreateSystemObjects(ServerContext& context);

}  // namespace kopp::apiserver
