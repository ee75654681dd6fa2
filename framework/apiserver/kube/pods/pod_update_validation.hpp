#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Validates the change of an update of a Pod.
void ValidatePodUpdate(const nlohmann::json& before, const nlohmann::json& after,
                       FieldErrors& errors);

}  // namespace kopp::apiserver
