#pragma once

#include "api/request.hpp"
#include "http_server/http_message.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Authenticates requests by bearer token or client certificate; without either, the user is
/// system:anonymous. Thread-safe.
class Users {
 public:
  /// Returns a new random token for the user.
  [[nodiscard]] std::string NewToken(const User& user);

  /// Returns the user of a request with this Authorization header ("" if it has none), or nothing
  /// if its credentials are not valid.
  [[nodiscard]] std::optional<User> Authenticate(std::string_view authorization,
                                                 const detail::ClientCertificate& client);

 private:
  Guarded<std::map<std::string, User, std::less<>>> by_token_;
};

}  // namespace kopp::apiserver
