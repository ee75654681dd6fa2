#pragma once

#include <string>

namespace kopp::detail {

/// Returns a random UUID (version 4, RFC 9562) such as "5e1c8f0a-93f1-4bd5-8a3c-0d2b7f1e6c42".
/// Thread-safe. It is unique, but not a secret: do not use it as a token.
[[nodiscard]] std::string RandomUuid();

}  // namespace kopp::detail
