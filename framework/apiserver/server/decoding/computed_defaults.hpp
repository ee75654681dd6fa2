#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Applies the defaults of a built-in type that defaults.txt cannot express, because they depend on
/// more than sibling fields. Does nothing for a type without such defaults.
void ApplyComputedDefaults(nlohmann::json& object, std::string_view type);

}  // namespace kopp::apiserver
