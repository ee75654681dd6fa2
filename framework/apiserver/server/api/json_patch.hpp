#pragma once

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Applies the operations of a JSON patch (RFC 6902) to `document`. Throws std::invalid_argument if
/// an operation fails, and StatusError (413) if the copies become too large.
///
/// nlohmann's implementation is not used because kube-apiserver is more lenient: index -1 is the
/// last item of a list, a missing value is null, and a missing member can be replaced and equals
/// null in a test.
[[nodiscard]] nlohmann::json ApplyJsonPatch(nlohmann::json document,
                                            const nlohmann::json& operations);

}  // namespace kopp::apiserver
