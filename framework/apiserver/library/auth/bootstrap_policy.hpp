#pragma once

#include "storage/server_context.hpp"

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Creates the ClusterRoles admin, edit and view, and the ClusterRoles and ClusterRoleBindings that
/// let every user discover the API and ask for its own permissions: system:basic-user,
/// system:discovery and system:public-info-viewer.
void CreateBootstrapPolicy(ServerContext& context);

/// Returns the rules of the ClusterRoles that admin, edit and view aggregate, by name:
/// system:aggregate-to-admin, system:aggregate-to-edit and system:aggregate-to-view.
[[nodiscard]] std::map<std::string, nlohmann::json> RulesOfUserRoles();

}  // namespace kopp::apiserver
