#pragma once

#include "schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// The fields of JSON text that are passed over, in its order: `unknown field "spec.a"`, `duplicate
/// field "spec.b"`. Of text that is no JSON those before its end.
[[nodiscard]] std::vector<std::string> FieldProblems(std::string_view text, const Schema& schema);

}  // namespace kopp::apiserver
