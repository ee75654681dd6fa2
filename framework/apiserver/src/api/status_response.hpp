#pragma once

#include "api/response.hpp"
#include "api/status.hpp"

namespace kopp::apiserver {

/// The response for an error that occurs outside the API handler, such as in the HTTP server.
[[nodiscard]] inline ServerResponse ResponseOf(const StatusError& error) {
  return {.status = error.code(), .body = error.ToJson().dump() + '\n'};
}

}  // namespace kopp::apiserver
