#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Applies a strategic merge patch to `object`, which is of a built-in kind with `schema`. Lists
/// with the patch strategy "merge" are merged by their merge key; the patch may contain the
/// directives $patch, $retainKeys, $setElementOrder/LIST and $deleteFromPrimitiveList/LIST.
/// Removes from `patch` the directives that it has processed. Throws StatusError, with the same
/// message as kube-apiserver, if the patch is not valid.
[[nodiscard]] nlohmann::json ApplyStrategicMergePatch(nlohmann::json object, nlohmann::json& patch,
                                                      const Schema& schema);

}  // namespace kopp::apiserver
