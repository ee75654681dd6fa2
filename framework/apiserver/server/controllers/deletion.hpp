#pragma once

#include "api/resource.hpp"
#include "api/write_options.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Throws StatusError (409 Conflict) if `metadata` does not match the preconditions of `options`.
void CheckPreconditions(const Resource& resource, const std::string& name,
                        const nlohmann::json& metadata, const DeleteOptions& options);

/// Returns whether the deletion of a Pod keeps the grace period of an earlier one, because only a
/// shorter one replaces it. Admission webhooks are not called for such a deletion.
[[nodiscard]] bool IsDeletionPending(const Resource& resource, const nlohmann::json& object,
                                     const DeleteOptions& options);

/// Returns `object` with a deletionTimestamp and the finalizers of its deletion propagation. It has
/// the deletionTimestamp of an earlier deletion if there was one. The result may have no finalizer
/// and no grace period: then the caller removes the object.
[[nodiscard]] nlohmann::json MarkForDeletion(ServerContext& context, const Resource& resource,
                                             nlohmann::json object, const DeleteOptions& options);

}  // namespace kopp::apiserver
