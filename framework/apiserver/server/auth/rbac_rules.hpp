#pragma once

#include "api/request.hpp"
#include "storage/server_context.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The binding that gives a user the rules of a role.
struct RbacGrant {
  const nlohmann::json& binding;
  bool is_cluster_wide = false;   ///< a ClusterRoleBinding
  const nlohmann::json& subject;  ///< of the binding; it matches the user

  /// Returns the text that the reason of an access decision contains.
  [[nodiscard]] std::string ToString() const;
};

/// Returns the rules of the role that a binding in namespace `ns` refers to, or nothing if the role
/// does not exist. A ClusterRole with an aggregationRule has the rules of the selected
/// ClusterRoles, too.
[[nodiscard]] std::optional<nlohmann::json> RulesOfRole(ServerContext& context,
                                                        const nlohmann::json& reference,
                                                        const std::string& ns);

/// Receives a rule. Returns whether to continue with the next one.
using RbacRuleVisitor = std::function<bool(const nlohmann::json& rule, const RbacGrant& grant)>;

/// Calls `visit` for each rule that applies to the user: those of ClusterRoleBindings and, unless
/// `ns` is empty, those of the RoleBindings in that namespace. Returns the errors: bindings whose
/// role does not exist.
std::vector<std::string> VisitRbacRules(ServerContext& context, const User& user,
                                        const std::string& ns, const RbacRuleVisitor& visit);

}  // namespace kopp::apiserver
