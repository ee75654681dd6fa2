#pragma once

#include "api/resource.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Creates the Event OwnerRefInvalidNamespace, as the garbage collector of a cluster does, if the
/// owner in `reference` exists, but in another namespace than its dependent. `metadata` is that of
/// the dependent.
void ReportOwnerInOtherNamespace(ServerContext& context, const ObjectLocation& dependent,
                                 const nlohmann::json& metadata, const nlohmann::json& reference,
                                 const Resource& owner);

}  // namespace kopp::apiserver
