#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Sets a condition in a list of conditions. Keeps its lastTransitionTime if its status stays the
/// same.
void SetObjectCondition(nlohmann::json& conditions, nlohmann::json condition,
                        const std::string& now);

}  // namespace kopp::apiserver
