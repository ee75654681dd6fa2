#pragma once

#include "api/request.hpp"
#include "storage/server_context.hpp"

namespace kopp::apiserver {

/// Returns the user as whom a request is executed. `user` needs the permission to impersonate the
/// user, each group, the uid and each extra value. Throws StatusError (403) without it, and
/// std::invalid_argument if `impersonation` names no user.
[[nodiscard]] User Impersonate(ServerContext& context, const User& user,
                               const Impersonation& impersonation);

}  // namespace kopp::apiserver
