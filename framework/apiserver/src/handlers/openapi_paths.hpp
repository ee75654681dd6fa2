#pragma once

#include "api/resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the path of a resource's group version: "api/v1", "apis/apps/v1".
[[nodiscard]] std::string GroupVersionPath(const Resource& resource);

/// Returns the path of a resource's objects in OpenAPI documents, such as
/// "/apis/apps/v1/namespaces/{namespace}/deployments/{name}".
[[nodiscard]] std::string ObjectPath(const Resource& resource);

/// Returns the description of ObjectPath() in OpenAPI documents. It contains the operations that
/// kubectl looks up: GET, which tells the kind of a resource, and PATCH, whose parameters and media
/// types tell that the server validates fields and which patches it accepts.
[[nodiscard]] nlohmann::json OpenApiPathItem(const Resource& resource);

}  // namespace kopp::apiserver
