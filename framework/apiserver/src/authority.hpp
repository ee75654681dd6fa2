#pragma once

#include "exchange.hpp"
#include "openssl.hpp"

#include <optional>
#include <string>

namespace kopp::apiserver {

/// A certificate with its key, both in PEM.
struct Identity {
  std::string certificate{};
  std::string key{};
};

/// A certificate authority that one server makes for itself. Its keys are on a curve, so that this
/// takes no time. What fails throws std::runtime_error.
class Authority {
 public:
  Authority();

  /// In PEM: what clients trust.
  [[nodiscard]] const std::string& certificate() const { return pem_; }
  /// For a server on this machine, which listens at `address`, an IP address.
  [[nodiscard]] Identity IssueForServer(const std::string& address) const;
  /// For a client: its name is the common name, its groups are organizations.
  [[nodiscard]] Identity IssueForUser(const User& user) const;

 private:
  detail::Key key_;
  detail::Certificate certificate_;
  std::string pem_;
};

/// Whom a certificate is for that IssueForUser, or somebody else, has issued; none where it has no
/// common name.
[[nodiscard]] std::optional<User> UserIn(const X509& certificate);

}  // namespace kopp::apiserver
