#pragma once

#include "api/resource.hpp"
#include "storage/server_context.hpp"

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

// Updates of Pods by the server itself: no field manager owns the changed fields.

namespace kopp::apiserver {

/// Sets a condition in a list of conditions. Keeps its lastTransitionTime if its status stays the
/// same.
void SetObjectCondition(nlohmann::json& conditions, nlohmann::json condition,
                        const std::string& now);

/// Applies `update` to a stored Pod, again if another thread writes it meanwhile. Returns its new
/// state. Throws StatusError (404) if it does not exist.
nlohmann::json UpdateStoredPod(ServerContext& context, const Resource& pods, const ObjectKey& key,
                               const std::function<void(nlohmann::json& pod)>& update);

}  // namespace kopp::apiserver
