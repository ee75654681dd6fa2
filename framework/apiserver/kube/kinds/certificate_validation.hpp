#pragma once

#include "strategy/kind_strategy.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns whether a CertificateSigningRequest has a condition of the type.
[[nodiscard]] bool HasConditionOfType(const nlohmann::json& request, std::string_view type);
/// Adds the strategies of CertificateSigningRequests.
void AddCertificateStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
