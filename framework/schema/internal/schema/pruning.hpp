#pragma once

#include "schema/schema.hpp"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Pruning and defaulting of custom resources, which happen before validation.

namespace kopp::schema {

/// Decodes apiVersion, kind and metadata of the embedded resource at `path`. Returns the paths of
/// the removed unknown fields. May throw.
using EmbeddedResourceDecoder =
    std::function<std::vector<std::string>(nlohmann::json& resource, const std::string& path)>;

/// Removes unknown fields from the metadata of an object at `path`. Returns their paths. Does not
/// check the types of the others.
std::vector<std::string> PruneMetadata(nlohmann::json& object, const std::string& path);

/// Removes the fields of `value` that its schema does not specify. Returns their sorted paths.
std::vector<std::string> Prune(nlohmann::json& value, const Schema& schema,
                               const EmbeddedResourceDecoder& decode_embedded = &PruneMetadata);

/// Converts whole numbers with a fraction, such as 1.0, to integers.
void NormalizeNumbers(nlohmann::json& value);

/// Sets missing fields to their defaults, and removes nulls that are not nullable.
void ApplySchemaDefaults(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::schema
