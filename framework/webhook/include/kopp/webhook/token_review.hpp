#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/webhook/user_info.hpp>

namespace kopp {

/// A bearer token that the API server asks about: TokenReview of authentication.k8s.io/v1.
struct TokenReview {
  std::string token = {};                   ///< never empty
  std::vector<std::string> audiences = {};  ///< the token must be for all of them; empty: any
  std::stop_token stop = {};                ///< see AdmissionContext::stop
};

/// Returns the user of the token, or nullopt if the token is not valid. Several threads call it at
/// the same time. If it throws, the request fails with what() as its error.
using Authenticator = std::function<std::optional<UserInfo>(const TokenReview& review)>;

}  // namespace kopp
