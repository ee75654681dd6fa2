#pragma once

#include "resource.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// What is served because of an established definition, the versions in the order in which they
/// are preferred.
[[nodiscard]] std::vector<Catalog::Entry> Served(const nlohmann::json& definition);

/// Whether version `a` is preferred to `b`: stable ones first, then the newest.
[[nodiscard]] bool IsPreferred(const std::string& a, const std::string& b);

}  // namespace kopp::apiserver
