#pragma once

#include "api/request.hpp"
#include "net/http_message.hpp"
#include "storage/server_context.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace kopp::apiserver {

/// Authenticates requests by bearer token or client certificate; without either, the user is
/// system:anonymous. Accepts the tokens of ServiceAccounts, too. Thread-safe. `context` must
/// outlive it.
class Users {
 public:
  explicit Users(ServerContext& context) : context_(context) {}

  /// Returns a new random token for the user.
  [[nodiscard]] std::string NewToken(const User& user);

  /// Returns the user of a request with this Authorization header ("" if it has none), or nothing
  /// if its credentials are not valid.
  [[nodiscard]] std::optional<User> Authenticate(std::string_view authorization,
                                                 const detail::ClientCertificate& client);

 private:
  ServerContext& context_;
};

}  // namespace kopp::apiserver
