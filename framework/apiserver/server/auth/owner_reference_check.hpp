#pragma once

#include "api/write_request.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Rejects a write by throwing StatusError (403) if it changes owner references and the user may
/// not do so. `before` is null for a new object. Does nothing unless the context
/// uses RBAC and checks_owner_references. Kubernetes: the admission plugin
/// OwnerReferencesPermissionEnforcement (plugin/pkg/admission/gc).
void CheckOwnerReferences(ServerContext& context, const WriteRequest& write,
                          const nlohmann::json& before, const nlohmann::json& object);

}  // namespace kopp::apiserver
