#pragma once

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// `document` after the operations of a JSON patch (RFC 6902). Throws std::invalid_argument where
/// one of them cannot be carried out, and a Refusal (413) where its copies become too large.
///
/// Not nlohmann's, since the real server is more lenient: an index of -1 is the last of a list, a
/// value that is left out is null, what is not there may be replaced, and equals null in a test.
[[nodiscard]] nlohmann::json JsonPatched(nlohmann::json document, const nlohmann::json& operations);

}  // namespace kopp::apiserver
