#pragma once

#include "exchange.hpp"
#include "resource.hpp"

#include <optional>

namespace kopp::apiserver {

/// The answers to all that is asked of no resource: what is served (/api, /apis and below),
/// /version, /healthz, /livez, /readyz and /. None where the path is another.
[[nodiscard]] std::optional<Reply> Discover(const Ask& ask, const Catalog& catalog);

}  // namespace kopp::apiserver
