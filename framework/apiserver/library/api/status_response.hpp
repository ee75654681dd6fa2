#pragma once

#include "api/response.hpp"
#include "api/status.hpp"

namespace kopp::apiserver {

/// Returns the response for an error.
[[nodiscard]] inline ServerResponse ToResponse(const StatusError& error) {
  return {.status = error.code(), .body = error.ToJson()};
}

}  // namespace kopp::apiserver
