#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"

#include <optional>

namespace kopp::apiserver {

/// Handles /openapi/v3, the documents below it (one for each API group version), and /openapi/v2.
/// Returns an empty optional for other paths. The documents contain only the query parameters of
/// PATCH for each kind: kubectl reads them to find out that the server validates fields. For kinds
/// without a document kubectl reads /openapi/v2, which is empty.
[[nodiscard]] std::optional<ServerResponse> HandleOpenApi(const ServerRequest& request,
                                                          const Catalog& catalog);

}  // namespace kopp::apiserver
