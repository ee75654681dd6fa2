#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <openssl/ssl.h>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// What is to be known of one handshake by those who explain its failure.
struct HandshakeReport {
  std::atomic<bool> done = false;
  std::string refusal;  ///< why the server's certificate was refused, and what to do; else empty
};

/// The rules of TLS for one server: TLS 1.2 or later, only the given authority is trusted, and the
/// name must stand in the certificate's subjectAltName. All connections share one, whoever makes
/// them, so nothing is parsed again for a new one.
class TlsContext {
 public:
  /// `server_name` is what the certificate must be for. Throws ConfigError for certificates or a
  /// key that cannot be used.
  TlsContext(const Config& config, std::string server_name);

  /// For one connection, with the name for SNI set.
  [[nodiscard]] std::unique_ptr<SSL, decltype(&SSL_free)> NewSession(HandshakeReport& report) const;

  /// Lets the handshake of `ssl`, a session of this context, report to `report`, which outlives it.
  static void Attach(SSL* ssl, HandshakeReport& report);

  /// A reference of its own to the context, for a library that takes one over.
  [[nodiscard]] SSL_CTX* Share() const;

  /// False where the configuration waived it (insecure-skip-tls-verify).
  [[nodiscard]] bool verifies() const;

  [[nodiscard]] const std::string& server_name() const { return server_name_; }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::string server_name_;
};

/// The text of the oldest error in OpenSSL's queue of this thread, which is emptied.
[[nodiscard]] std::string TakeTlsError();

/// Whether OpenSSL's error `code` is the other side's word on our certificate. By TLS 1.3 it comes
/// after the handshake.
[[nodiscard]] bool IsCertificateAlert(unsigned long code);

/// What OpenSSL's error `code` in a handshake, or an alert on our certificate behind it, means.
[[nodiscard]] TransportError ExplainHandshake(unsigned long code);

}  // namespace kopp::detail
