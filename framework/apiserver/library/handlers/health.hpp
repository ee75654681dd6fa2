#pragma once

#include "api/request.hpp"
#include "api/response.hpp"

#include <optional>

namespace kopp::apiserver {

/// Handles /healthz, /livez, /readyz and the paths of their checks. This server is always healthy.
/// With the query parameter "verbose", the response lists the checks. Returns an empty optional for
/// other paths.
[[nodiscard]] std::optional<ServerResponse> HandleHealth(const ServerRequest& request);

}  // namespace kopp::apiserver
