#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Converts `object` to the result of decoding it into the Go types of a built-in kind and encoding
/// it again: unknown fields, nulls, empty strings, empty lists and empty maps are removed; nested
/// objects that are always present are added. Throws std::invalid_argument, with the same message
/// as kube-apiserver, if a value has the wrong type.
void DecodeTyped(nlohmann::json& object, const Schema& schema);

}  // namespace kopp::apiserver
