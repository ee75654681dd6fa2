#pragma once

#include <cstddef>
#include <string>

namespace kopp::detail {

/// Returns a random UUID (version 4, RFC 9562) such as "5e1c8f0a-93f1-4bd5-8a3c-0d2b7f1e6c42".
/// Thread-safe. It is unique, but not a secret: do not use it as a token.
[[nodiscard]] std::string RandomUuid();

/// Returns random lower-case hexadecimal digits, which are not all 0. Thread-safe. Not a secret.
[[nodiscard]] std::string RandomHexDigits(std::size_t count);

}  // namespace kopp::detail
