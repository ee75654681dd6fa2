#pragma once

#include "api/write_request.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Prevents a user from granting permissions that the user does not have. `object` is the new state
/// of the object that is written, and `before` its current state, or null for a new object.
/// Does nothing unless it is a role or a binding and the server uses RBAC.
///
/// Throws StatusError: 403 if the user neither has all permissions that the object gives nor may
/// escalate the role or bind it; 404 if the role of a binding does not exist.
void CheckEscalation(ServerContext& context, const WriteRequest& write,
                     const nlohmann::json& before, const nlohmann::json& object);

/// Returns the user as whom a request is executed. `user` needs the permission to impersonate the
/// user, each group, the uid and each extra value. Throws StatusError (403) without it, and
/// std::invalid_argument if `impersonation` names no user.
[[nodiscard]] User Impersonate(ServerContext& context, const User& user,
                               const Impersonation& impersonation);

}  // namespace kopp::apiserver
