#pragma once

#include "resource.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Reads JSON, or YAML where `content_type` says so. Of a field that comes twice the last one
/// counts. Throws std::invalid_argument, in the words of the real server.
[[nodiscard]] nlohmann::json Parse(std::string_view text, std::string_view content_type);

/// The fields of JSON text that are passed over, in its order: `unknown field "spec.a"`, `duplicate
/// field "spec.b"`.
[[nodiscard]] std::vector<std::string> FieldProblems(std::string_view text, const Schema& schema);

/// `object` as the types of a built-in kind would hold it: without fields that they lack, null, and
/// empty text, lists and maps; with the parts that are always there. Throws std::invalid_argument,
/// in the words of the real server, for a value of a wrong type.
void FitToTypes(nlohmann::json& object, const Schema& schema);

}  // namespace kopp::apiserver
