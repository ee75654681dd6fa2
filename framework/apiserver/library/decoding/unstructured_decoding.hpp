#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Converts the numbers in `value` to the types of `schema`: an integer that does not fit wraps
/// around, as in kube-apiserver. Throws std::invalid_argument if a value has the wrong type, with
/// the message of the conversion that kube-apiserver uses for the results of strategic merge
/// patches. Other decoding errors are left to DecodeTyped().
void ConvertUnstructured(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::apiserver
