#pragma once

#include "resource.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The columns of a resource's tables, as a Table has them. As on the real server they end before
/// the first one of a CRD that has no JSONPath which can be read.
[[nodiscard]] nlohmann::json ColumnsOf(const Resource& resource);

/// The cells of an object's row, one for each of these columns. `now` is RFC 3339, for ages.
[[nodiscard]] nlohmann::json CellsOf(const Resource& resource, const nlohmann::json& object,
                                     const std::string& now);

/// What a row says of its object beyond the cells, for those who print tables: of a Pod that it has
/// ended. null where there is nothing to say.
[[nodiscard]] nlohmann::json ConditionsOf(const Resource& resource, const nlohmann::json& object);

}  // namespace kopp::apiserver
