#pragma once

#include "api/extensions.hpp"
#include "api/virtual_resources.hpp"

#include <map>
#include <string>

#include <nlohmann/json.hpp>

// Virtual kinds beyond the reviews of the library: bindings, evictions, token requests, and the
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

}  // namespace kopp::apiserver
