#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <optional>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Returns the error response of a fault, with the text of a real server. Returns std::nullopt if
/// the fault's type is not an error response, or if the request is for a resource that the server
/// does not have.
[[nodiscard]] std::optional<ServerResponse> ErrorResponseFor(const testing::Fault& fault,
                                                             const ServerRequest& request,
                                                             ServerContext& context);

}  // namespace kopp::apiserver
