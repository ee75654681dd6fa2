#pragma once

#include "api/resource.hpp"

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the types of a custom resource for an OpenAPI document, by name: the kind and the list
/// of it. The kind has the schema in its definition `crd`, with the fields that the API server adds
/// and without the members that it does not publish.
[[nodiscard]] nlohmann::json CustomResourceTypes(const Resource& resource,
                                                 const nlohmann::json& crd);

/// Returns the built-in types that the document of a custom resource refers to.
[[nodiscard]] std::vector<std::string_view> BuiltInTypesOfCustomResource(const Resource& resource);

}  // namespace kopp::apiserver
