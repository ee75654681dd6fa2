#pragma once

#include "schema/schema.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Pruning and defaulting of custom resources, which happen before validation.

namespace kopp::schema {

/// Removes unknown fields and nulls that are not nullable, and applies defaults. Decodes metadata
/// like that of a built-in kind. Returns the sorted paths of the removed unknown fields. Throws
/// std::invalid_argument, with the same message as kube-apiserver, if metadata is invalid.
std::vector<std::string> PruneAndDefault(nlohmann::json& object, const Schema& schema);

/// Converts whole numbers with a fraction, such as 1.0, to integers.
void NormalizeNumbers(nlohmann::json& value);

/// Removes the fields of `value` that its schema does not specify. Returns their sorted paths.
std::vector<std::string> Prune(nlohmann::json& value, const Schema& schema);

/// Sets missing fields to their defaults, and removes nulls that are not nullable.
void ApplySchemaDefaults(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::schema
