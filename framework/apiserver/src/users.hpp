#pragma once

#include "exchange.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Who is at the other end of a connection, as its certificate tells.
struct Peer {
  bool certified = false;      ///< it has shown one
  std::optional<User> user{};  ///< by one of ours
};

/// Who asks: those with a bearer token from here or with a certificate, and anybody without
/// either. Safe to use from any thread.
class Users {
 public:
  /// A new token, which nobody guesses.
  [[nodiscard]] std::string NewToken(const User& user);

  /// Who sends a request with this Authorization header, "" where it has none. None: credentials
  /// that are no good.
  [[nodiscard]] std::optional<User> Find(std::string_view authorization, const Peer& peer);

 private:
  Guarded<std::map<std::string, User, std::less<>>> by_token_;
};

}  // namespace kopp::apiserver
