#pragma once

#include "schema.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// What becomes of a custom resource's values before they are looked at.

namespace kopp::apiserver {

/// Makes of `object` what its schema lets it be: without unknown fields, with defaults, with null
/// only where that is a value. Returns the paths of what was dropped as unknown, sorted. Throws
/// std::invalid_argument, in the words of the real server, where metadata is none.
std::vector<std::string> FitToSchema(nlohmann::json& object, const Schema& schema);

/// Drops what the schema of `value`, a part of an object, does not know. Returns the paths.
std::vector<std::string> Prune(nlohmann::json& value, const Schema& schema);

/// Sets what is left out, and drops null where that is no value.
void SetDefaults(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::apiserver
