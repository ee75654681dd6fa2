#pragma once

#include "api/request.hpp"
#include "storage/server_context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

// Bearer tokens. Those of ServiceAccounts are JSON Web Tokens (RFC 7519), signed with HMAC-SHA-256.

namespace kopp::apiserver {

/// Returns a token with these claims. Throws std::runtime_error if OpenSSL fails.
[[nodiscard]] std::string SignJwt(const nlohmann::json& claims, std::string_view key);

/// Returns the claims of a token, or nothing if `key` has not signed it.
[[nodiscard]] std::optional<nlohmann::json> VerifyJwt(std::string_view token, std::string_view key);

/// The issuer of the tokens of ServiceAccounts, and the audience of this server.
constexpr const char* kTokenIssuer = "https://kubernetes.default.svc";

/// The result of the authentication of a bearer token.
struct TokenAuthentication {
  std::optional<User> user{};            ///< nothing if the token is not valid
  std::vector<std::string> audiences{};  ///< the requested audiences for which the token is valid
  std::string error{};                   ///< why it is not valid, as in a TokenReview
};

/// Authenticates a bearer token: one that ServerContext::AddBearerToken has registered, or the
/// token of a ServiceAccount. It must be valid for one of `audiences`; an empty list stands for
/// this server.
[[nodiscard]] TokenAuthentication AuthenticateToken(ServerContext& context,
                                                    const std::string& token,
                                                    std::vector<std::string> audiences);

}  // namespace kopp::apiserver
