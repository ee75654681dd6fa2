#pragma once

#include "api/resource.hpp"

#include <nlohmann/json.hpp>

// The groups "" and events.k8s.io serve the same Events with different field names. The server
// stores Events with the names of the core group, and converts them for events.k8s.io.

namespace kopp::apiserver {

/// Returns whether the resource is served with other field names than it is stored with.
[[nodiscard]] bool NeedsConversion(const Resource& resource);

/// Converts an object of the resource to its stored form. Most resources need no conversion.
[[nodiscard]] nlohmann::json ToStorageVersion(const Resource& resource, nlohmann::json object);
/// Converts a stored object to the form in which the resource is served.
[[nodiscard]] nlohmann::json FromStorageVersion(const Resource& resource, nlohmann::json object);

}  // namespace kopp::apiserver
