#pragma once

#include "schema/schema.hpp"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// Pruning and defaulting of custom resources, which happen before validation.

namespace kopp::schema {

/// Prunes, and may decode, apiVersion, kind and metadata of the embedded resource at `path`.
/// Returns the paths of the removed fields. May throw std::invalid_argument.
using EmbeddedResourceHandler =
    std::function<std::vector<std::string>(nlohmann::json& resource, const std::string& path)>;

/// An EmbeddedResourceHandler: removes the unknown fields of the metadata of an object at `path`.
/// Does not check or convert the others. Does not throw.
std::vector<std::string> PruneMetadata(nlohmann::json& object, const std::string& path);

/// Removes the fields of `value` that its schema does not specify, and then calls `prune_embedded`
/// for each embedded resource. Returns the sorted paths of all removed fields. Throws what
/// `prune_embedded` throws.
std::vector<std::string> Prune(nlohmann::json& value, const Schema& schema,
                               const EmbeddedResourceHandler& prune_embedded);

/// Converts whole numbers with a fraction, such as 1.0, to integers.
void NormalizeNumbers(nlohmann::json& value);

/// Sets missing fields to their defaults, and removes nulls that are not nullable.
void ApplySchemaDefaults(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::schema
