#pragma once

#include "storage/server_context.hpp"

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver::explore {

/// Returns all objects of the server by "deployments.apps default/web", without what differs
/// between equivalent runs: Events, Leases and CustomResourceDefinitions, managedFields, resource
/// versions, generations, times, uids and generated names. References to uids and names of other
/// objects are replaced, too. `normalize` may be empty; it is called for each object.
[[nodiscard]] nlohmann::json FinalState(ServerContext& context,
                                        const std::function<void(nlohmann::json&)>& normalize);

/// Returns the differences between two results of FinalState, a line for each, or "".
[[nodiscard]] std::string DescribeDifference(const nlohmann::json& undisturbed,
                                             const nlohmann::json& disturbed);

}  // namespace kopp::apiserver::explore
