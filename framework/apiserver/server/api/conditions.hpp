#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns whether status.conditions of `object` has a condition of this type.
[[nodiscard]] bool HasConditionOfType(const nlohmann::json& object, std::string_view type);

/// Sets a condition in a list of conditions. Keeps its lastTransitionTime if its status stays the
/// same.
void SetObjectCondition(nlohmann::json& conditions, nlohmann::json condition,
                        const std::string& now);

}  // namespace kopp::apiserver
