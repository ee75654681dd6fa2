#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"

#include <optional>

namespace kopp::apiserver {

/// Handles the discovery endpoints (/, /api, /apis and below) and /version. Returns an empty
/// optional for other paths. Throws StatusError for methods other than GET and HEAD.
[[nodiscard]] std::optional<ServerResponse> HandleDiscovery(const ServerRequest& request,
                                                            const Catalog& catalog);

}  // namespace kopp::apiserver
