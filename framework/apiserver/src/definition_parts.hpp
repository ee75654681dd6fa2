#pragma once

#include "status.hpp"

#include <string>

#include <nlohmann/json.hpp>

// What may be wrong with parts of a version of a CustomResourceDefinition. `at` is the field, up to
// the name of what is in it.

namespace kopp::apiserver {

void CheckScale(const nlohmann::json& scale, const std::string& at, Causes& causes);
void CheckColumn(const nlohmann::json& column, const std::string& at, Causes& causes);

}  // namespace kopp::apiserver
