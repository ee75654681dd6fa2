#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "net/http_message.hpp"

#include <string>

#include <kopp/workqueue/clock.hpp>

// Converts between HTTP messages and the API's requests and responses.
namespace kopp::apiserver {

/// Returns the API's view of an HTTP request that passed detail::ValidateRequest. Moves the body
/// out of `message`. The caller sets the user.
[[nodiscard]] ServerRequest ReadServerRequest(detail::HttpMessage& message);

/// Returns the status and headers of a response, as kube-apiserver sends them. `audit_id` may be
/// empty.
[[nodiscard]] detail::OutgoingResponse FormatHeaders(const ServerResponse& response,
                                                     const std::string& audit_id, WallTime now);

}  // namespace kopp::apiserver
