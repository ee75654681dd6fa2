#pragma once

#include <string>

namespace kopp::testing {

/// A certificate and its private key in PEM.
struct CertificateAndKey {
  std::string certificate;
  std::string key;
};

/// The options of CertificateAuthority::Issue.
struct CertificateOptions {
  std::string common_name = "kopp test";
  /// The subjectAltName extension in OpenSSL syntax: "DNS:localhost,IP:127.0.0.1".
  std::string subject_alt_names{};
  bool expired = false;
  bool is_ca = false;  ///< whether the certificate can issue others (basicConstraints CA:TRUE)
};

/// A certificate authority for tests. Its key and its certificate exist only in memory. The
/// constructors and the Issue functions throw std::runtime_error if OpenSSL fails.
class CertificateAuthority {
 public:
  /// Creates a self-signed root authority.
  CertificateAuthority();

  /// Creates an intermediate authority whose certificate is issued by `issuer`.
  CertificateAuthority(const CertificateAuthority& issuer, const std::string& common_name);

  /// Returns the authority's own certificate in PEM.
  [[nodiscard]] const std::string& certificate() const { return own_.certificate; }

  /// Returns a new P-256 key and a certificate for it, signed by this authority. The certificate is
  /// valid for one day, or has expired one day ago if `options.expired` is set.
  [[nodiscard]] CertificateAndKey Issue(const CertificateOptions& options) const;

  /// Issues a certificate for servers on loopback: 127.0.0.1, ::1 and localhost.
  [[nodiscard]] CertificateAndKey IssueForLoopback() const;

 private:
  CertificateAndKey own_;
};

}  // namespace kopp::testing
