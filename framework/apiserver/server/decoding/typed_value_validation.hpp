#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Validates an applied object against its schema. Returns errors such as ".data.k: expected
/// string, got …", which include duplicate items in lists of type map or set; returns none if it is
/// valid.
[[nodiscard]] std::vector<std::string> ValidateTypedValue(const nlohmann::json& object,
                                                          const Schema& schema);

}  // namespace kopp::apiserver
