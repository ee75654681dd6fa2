#pragma once

#include <string>

namespace kopp::testing {

/// A certificate and its private key in PEM.
struct Identity {
  std::string certificate;
  std::string key;
};

/// The content of a certificate to issue.
struct Certificate {
  std::string common_name = "kopp test";
  std::string names{};  ///< subjectAltName in OpenSSL syntax: "DNS:localhost,IP:127.0.0.1"
  bool expired = false;
  bool authority = false;  ///< whether it may issue certificates
};

/// A certificate authority for one test. Generated in memory.
class Authority {
 public:
  /// Creates a self-signed root authority.
  Authority();

  /// Creates an intermediate authority whose certificate is issued by `issuer`.
  Authority(const Authority& issuer, const std::string& common_name);

  [[nodiscard]] const std::string& certificate() const { return identity_.certificate; }
  [[nodiscard]] Identity Issue(const Certificate& request) const;

  /// Issues a certificate for servers on loopback: 127.0.0.1, ::1 and localhost.
  [[nodiscard]] Identity IssueForLoopback() const;

 private:
  Identity identity_;
};

}  // namespace kopp::testing
