#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// Converts the first YAML document to JSON. Scalars and merge keys ("<<") have the meaning of
/// YAML 1.1, as with kubectl: `on` is true, 0o17 is 15. Throws std::invalid_argument, with the line
/// number, on a syntax error.
[[nodiscard]] nlohmann::json ParseYaml(std::string_view text);

/// Converts all documents that are not empty. Replaces a List, or a typed list such as
/// ConfigMapList, by its items. Throws like ParseYaml().
[[nodiscard]] std::vector<nlohmann::json> ParseManifests(std::string_view text);

}  // namespace kopp::schema
