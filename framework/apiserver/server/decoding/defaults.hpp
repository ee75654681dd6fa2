#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Applies the defaults of a built-in kind to `value`: sets missing fields, removes fields whose
/// value means "not set", and converts quantities to their canonical form. Most defaults come from
/// defaults.txt, the rest from computed_defaults.cpp.
void ApplyBuiltInDefaults(nlohmann::json& value, const Schema& schema);

/// Replaces the empty lists of an object of a built-in kind by null: the storage of kube-apiserver
/// does not tell them apart.
void ReplaceEmptyLists(nlohmann::json& value, const Schema& schema);

/// Returns an object of a built-in kind in which no field is set: its required fields have zero
/// values.
[[nodiscard]] nlohmann::json ZeroObject(const Schema& schema);

}  // namespace kopp::apiserver
