#pragma once

#include "schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// `object` as the types of a built-in kind would hold it: without fields that they lack, null, and
/// empty text, lists and maps; with the parts that are always there. Throws std::invalid_argument,
/// in the words of the real server, for a value of a wrong type.
void FitToTypes(nlohmann::json& object, const Schema& schema);

}  // namespace kopp::apiserver
