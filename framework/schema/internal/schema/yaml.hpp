#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

/// Converts the first YAML document to JSON. Unquoted scalars become null, booleans and numbers as
/// with kubectl. Throws std::invalid_argument, with the line number, on a syntax error.
[[nodiscard]] nlohmann::json ParseYaml(std::string_view text);

/// Converts all documents that are not empty; an object of kind List is replaced by its items.
/// Throws like ParseYaml().
[[nodiscard]] std::vector<nlohmann::json> ParseManifests(std::string_view text);

}  // namespace kopp::schema
