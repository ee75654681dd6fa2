#pragma once

#include "api/request.hpp"
#include "auth/access_attributes.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Authorizes requests. Without RBAC, every request is allowed.

namespace kopp::apiserver {

/// The result of an authorization.
struct AccessDecision {
  bool allowed = false;
  std::string reason{};  ///< as in the status of a SubjectAccessReview; may be empty
};

/// Decides by the stored Roles, ClusterRoles and their bindings. The group system:masters may do
/// everything.
[[nodiscard]] AccessDecision Authorize(ServerContext& context, const User& user,
                                       const AccessAttributes& attributes);

/// Returns the rules that apply to the user in a namespace, as the status of a
/// SelfSubjectRulesReview.
[[nodiscard]] nlohmann::json RulesOfUser(ServerContext& context, const User& user,
                                         const std::string& ns);

}  // namespace kopp::apiserver
