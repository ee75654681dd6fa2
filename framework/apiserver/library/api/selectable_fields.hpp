#pragma once

#include "api/resource.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the names of the fields that field selectors of a resource may use.
[[nodiscard]] std::vector<std::string> SelectableFields(const Resource& resource);

/// Returns the values of the selectable fields of a stored object, by name. The value of a field
/// that is not set is "". metadata.name and metadata.namespace are left out: they are in the
/// object's key.
[[nodiscard]] std::map<std::string, std::string> SelectableFieldValues(
    const Resource& resource, const nlohmann::json& object);

}  // namespace kopp::apiserver
