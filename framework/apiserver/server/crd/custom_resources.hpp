#pragma once

#include "api/resource.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the resources that an established CRD serves: one for each served version, in order of
/// version priority.
[[nodiscard]] std::vector<ResourcePtr> ServedResources(const nlohmann::json& definition);

/// Returns whether version `a` has a higher priority than `b`: stable versions come first, then
/// beta, then alpha, newer ones first; other names come last, in alphabetical order.
[[nodiscard]] bool IsPreferredVersion(const std::string& a, const std::string& b);

}  // namespace kopp::apiserver
