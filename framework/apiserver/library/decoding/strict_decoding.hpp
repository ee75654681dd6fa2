#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// Returns the errors of strict decoding in the order of the text: `unknown field "spec.a"`,
/// `duplicate field "spec.b"`. If `text` is not valid JSON, returns the errors before the syntax
/// error.
[[nodiscard]] std::vector<std::string> FindStrictDecodingErrors(std::string_view text,
                                                                const Schema& schema);

}  // namespace kopp::apiserver
