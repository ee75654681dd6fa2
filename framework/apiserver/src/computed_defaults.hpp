#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Those defaults of an object of the type that depend on more than the fields beside them.
void FillInByCode(nlohmann::json& object, std::string_view type);

}  // namespace kopp::apiserver
