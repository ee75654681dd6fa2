#pragma once

#include "api/resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the path of a resource's group version: "api/v1", "apis/apps/v1".
[[nodiscard]] std::string GroupVersionPath(const Resource& resource);

/// Adds the paths of a resource to those of an OpenAPI document. They contain the operations that
/// kubectl looks up: GET of an object and POST, which tell the kind of the resource, and PATCH,
/// whose parameters and media types tell that the server validates fields and which patches it
/// accepts.
void AddOpenApiPaths(const Resource& resource, nlohmann::json& paths);

}  // namespace kopp::apiserver
