#pragma once

#include "api/request.hpp"
#include "api/status.hpp"

#include <cstddef>
#include <string>

namespace kopp::apiserver {

/// The maximum size of a request body in bytes.
constexpr std::size_t kMaxBody = 3 << 20;

/// Returns a 413 Request Entity Too Large error.
[[nodiscard]] StatusError TooLarge(const std::string& reason);
/// Returns the 413 error for a body of more than kMaxBody bytes.
[[nodiscard]] StatusError BodyTooLarge();
/// Throws BodyTooLarge() if the body has more than kMaxBody bytes.
void CheckBodySize(const ServerRequest& request);

}  // namespace kopp::apiserver
