#pragma once

#include "status.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Why a CRD's openAPIV3Schema, which stands in `field`, is no structural schema, in the words of
/// the real server.
[[nodiscard]] Causes SchemaProblems(const nlohmann::json& schema, const std::string& field);

}  // namespace kopp::apiserver
