#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the errors of strict decoding in the order of the text: `unknown field "spec.a"`,
/// `duplicate field "spec.b"`. If `text` is not valid JSON, returns the errors before the syntax
/// error.
[[nodiscard]] std::vector<std::string> FindStrictDecodingErrors(std::string_view text,
                                                                const Schema& schema);

/// Converts the numbers in `value` to the types of `schema`: an integer that does not fit wraps
/// around, as in kube-apiserver. Throws std::invalid_argument if a value has the wrong type, with
/// the message of the conversion that kube-apiserver uses for the results of strategic merge
/// patches. Other decoding errors are left to DecodeTyped().
void ConvertUnstructured(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::apiserver
