#pragma once

#include "api/request.hpp"
#include "base/openssl.hpp"
#include "net/certificate.hpp"

#include <string>

namespace kopp::apiserver {

/// A certificate authority that exists in memory only. It uses P-256 keys, which are fast to
/// create. The constructor and the Issue functions throw std::runtime_error if OpenSSL fails.
class CertificateAuthority {
 public:
  CertificateAuthority();

  /// Returns the authority's own certificate as PEM, for clients to trust.
  [[nodiscard]] const std::string& certificate() const { return pem_; }
  /// Issues a certificate for localhost, the loopback addresses and `address`, an IP address.
  [[nodiscard]] detail::CertificateAndKey IssueForServer(const std::string& address) const;
  /// Issues a client certificate: the common name is the user's name, the organizations are the
  /// user's groups.
  [[nodiscard]] detail::ServerCertificate IssueForUser(const User& user) const;

 private:
  detail::Key key_;
  detail::Certificate certificate_;
  std::string pem_;
};

}  // namespace kopp::apiserver
