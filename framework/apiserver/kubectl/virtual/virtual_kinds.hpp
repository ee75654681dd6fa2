#pragma once

#include "api/extensions.hpp"
#include "api/resource.hpp"
#include "api/virtual_resources.hpp"
#include "storage/server_context.hpp"

#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

// Virtual kinds beyond the reviews of the server: bindings, evictions, token requests, and the
// reviews with which kubectl shows what the user is and may do.

namespace kopp::apiserver {

[[nodiscard]] const VirtualKinds& FurtherVirtualKinds();
/// Returns their handlers, by kind.
[[nodiscard]] std::map<std::string, VirtualKindHandler> FurtherVirtualKindHandlers();

// The handlers.
nlohmann::json Bind(const VirtualRequest& params);
nlohmann::json Evict(const VirtualRequest& params);
nlohmann::json RequestToken(const VirtualRequest& params);
nlohmann::json ReviewSelf(const VirtualRequest& request);
nlohmann::json ReviewRules(const VirtualRequest& request);

// Updates of Pods by the server itself: no field manager owns the changed fields.

/// Applies `update` to a stored Pod, again if another thread writes it meanwhile. Returns its new
/// state. Throws StatusError (404) if it does not exist.
nlohmann::json UpdateStoredPod(ServerContext& context, const Resource& pods, const ObjectKey& key,
                               const std::function<void(nlohmann::json& pod)>& update);

}  // namespace kopp::apiserver
