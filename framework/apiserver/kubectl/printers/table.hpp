#pragma once

#include "api/resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the columnDefinitions of a resource's Table. As in the real server, the columns of a CRD
/// end before the first one with an invalid JSONPath.
[[nodiscard]] nlohmann::json MakeColumnDefinitions(const Resource& resource);

/// Returns the cells of an object's row, one for each column. `now` is the time for ages, in RFC
/// 3339.
[[nodiscard]] nlohmann::json MakeCells(const Resource& resource, const nlohmann::json& object,
                                       const std::string& now);

/// Returns the conditions of an object's row, from which clients see that a Pod has completed.
/// Returns null for other objects.
[[nodiscard]] nlohmann::json MakeRowConditions(const Resource& resource,
                                               const nlohmann::json& object);

}  // namespace kopp::apiserver
