#pragma once

#include "schema.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Why an object that is applied does not fit its schema: ".data.k: expected string, got …". Empty:
/// it does. Lists by keys and sets have each item once.
[[nodiscard]] std::vector<std::string> TypedProblems(const nlohmann::json& object,
                                                     const Schema& schema);

}  // namespace kopp::apiserver
