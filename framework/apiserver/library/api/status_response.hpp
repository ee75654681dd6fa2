#pragma once

#include "api/response.hpp"
#include "api/status.hpp"

namespace kopp::apiserver {

/// Returns the response for an error that occurs outside the API handler, such as in the HTTP
/// server.
[[nodiscard]] inline ServerResponse ToResponse(const StatusError& error) {
  return {.status = error.code(), .body = error.ToJson().dump() + '\n'};
}

}  // namespace kopp::apiserver
