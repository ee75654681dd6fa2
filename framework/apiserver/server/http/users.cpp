#include "http/users.hpp"

#include "auth/token_authenticator.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <openssl/rand.h>

namespace kopp::apiserver {
namespace {

const User& Anonymous() {
  static const User user{"system:anonymous", {"system:unauthenticated"}};
  return user;
}

/// Returns the token of a Bearer Authorization header, or "".
std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool is_bearer =
      authorization.size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                 [](char expected, char given) {
                   return expected == (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given);
                 });
  if (!is_bearer) return {};
  authorization.remove_prefix(kScheme.size());
  return authorization.substr(std::min(authorization.find_first_not_of(' '), authorization.size()));
}

}  // namespace

std::string Users::NewToken(const User& user) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    throw std::runtime_error("cannot create a bearer token: OpenSSL returned no random bytes");
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  context_.AddBearerToken(token, user);
  return token;
}

std::optional<User> Users::Authenticate(std::string_view authorization,
                                        const detail::ClientCertificate& client) {
  if (client.verified && !client.common_name.empty()) {
    User user{client.common_name, client.organizations};
    user.groups.emplace_back("system:authenticated");
    return user;
  }
  const std::string_view token = BearerToken(authorization);
  if (token.empty()) return client.presented ? std::nullopt : std::optional(Anonymous());
  return AuthenticateToken(context_, std::string(token), {}).user;
}

}  // namespace kopp::apiserver
