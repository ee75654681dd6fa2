#pragma once

#include <string>

namespace kopp::testing {

/// A certificate and its key, in PEM.
struct Identity {
  std::string certificate;
  std::string key;
};

/// What a certificate is to say.
struct Certificate {
  std::string common_name = "kopp test";
  std::string names{};  ///< its subjectAltName as OpenSSL writes it: "DNS:localhost,IP:127.0.0.1"
  bool expired = false;
  bool authority = false;  ///< whether it may issue others
};

/// A certificate authority of one test, made in memory.
class Authority {
 public:
  Authority();

  /// One whose own certificate `issuer` gave.
  Authority(const Authority& issuer, const std::string& common_name);

  [[nodiscard]] const std::string& certificate() const { return own_.certificate; }
  [[nodiscard]] Identity Issue(const Certificate& what) const;

  /// For servers on loopback: 127.0.0.1, ::1 and localhost.
  [[nodiscard]] Identity IssueForLoopback() const;

 private:
  Identity own_;
};

}  // namespace kopp::testing
