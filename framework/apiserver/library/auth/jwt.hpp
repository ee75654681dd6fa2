#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

// JSON Web Tokens (RFC 7519), signed with HMAC-SHA-256.

namespace kopp::apiserver {

/// Returns a token with these claims. Throws std::runtime_error if OpenSSL fails.
[[nodiscard]] std::string SignJwt(const nlohmann::json& claims, std::string_view key);

/// Returns the claims of a token, or nothing if `key` has not signed it.
[[nodiscard]] std::optional<nlohmann::json> VerifyJwt(std::string_view token, std::string_view key);

}  // namespace kopp::apiserver
