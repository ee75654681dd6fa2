#pragma once

#include "admission/admission_attributes.hpp"
#include "admission/webhook_configuration.hpp"
#include "api/resource.hpp"
#include "storage/server_context.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the version in which a webhook gets the objects of a write, or nullptr if the webhook is
/// not called. `object` is null for a delete.
[[nodiscard]] ResourcePtr VersionFor(ServerContext& context, const ConfiguredWebhook& webhook,
                                     const AdmissionAttributes& attributes,
                                     const nlohmann::json& object);

}  // namespace kopp::apiserver
