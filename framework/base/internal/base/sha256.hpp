#pragma once

#include <string>
#include <string_view>

namespace kopp::detail {

/// Returns the 32 bytes of the SHA-256 hash of `text`. Throws std::runtime_error if OpenSSL fails.
[[nodiscard]] std::string Sha256(std::string_view text);

}  // namespace kopp::detail
