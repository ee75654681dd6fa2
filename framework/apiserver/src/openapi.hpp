#pragma once

#include "exchange.hpp"
#include "resource.hpp"

#include <optional>

namespace kopp::apiserver {

/// /openapi/v3 and the documents below it, one for each version of a group; none where the path is
/// another. They tell of each kind no more than the parameters of PATCH: from these kubectl learns
/// that it need not validate by itself. Of kinds that are not there it looks into /openapi/v2,
/// which is there and empty.
[[nodiscard]] std::optional<Reply> DescribeApi(const Ask& ask, const Catalog& catalog);

}  // namespace kopp::apiserver
