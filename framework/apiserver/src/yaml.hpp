#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The first document as JSON; scalars without quotes are what JSON makes of them, as with kubectl.
/// Throws std::invalid_argument, with the line.
[[nodiscard]] nlohmann::json YamlToJson(std::string_view text);

/// All documents that are not empty; a "kind: List" gives its items.
[[nodiscard]] std::vector<nlohmann::json> ReadManifests(std::string_view text);

}  // namespace kopp::apiserver
