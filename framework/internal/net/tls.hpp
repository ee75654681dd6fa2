#pragma once

#include <atomic>
#include <memory>
#include <string>

#include <openssl/ssl.h>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// The outcome of one TLS handshake.
struct HandshakeResult {
  std::atomic<bool> done = false;  ///< the handshake is complete
  std::string verify_error;  ///< why the server certificate was rejected, with advice; or empty
};

/// The TLS client configuration for one server: TLS 1.2 or later, trust in the configured
/// certificate authority only, and a required name in the subjectAltName of the server certificate.
/// All connections to the server share one context, so certificates are parsed only once.
/// Thread-safe.
class TlsContext {
 public:
  /// The server certificate must be valid for `server_name`, a host name or IP address. Throws
  /// ConfigError for an unusable certificate or key.
  TlsContext(const Config& config, std::string server_name);

  /// Returns a session for one connection, with SNI set. Writes its outcome to `result`, which must
  /// outlive the session.
  [[nodiscard]] std::unique_ptr<SSL, decltype(&SSL_free)> NewSession(HandshakeResult& result) const;

  /// Makes `ssl`, a session of this context, write the outcome of its handshake to `result`, which
  /// must outlive it.
  static void Attach(SSL* ssl, HandshakeResult& result);

  /// Returns a new reference to the context. The caller owns it and must call SSL_CTX_free.
  [[nodiscard]] SSL_CTX* NewReference() const;

  /// Returns whether the server certificate is verified (no insecure-skip-tls-verify).
  [[nodiscard]] bool verifies() const;

  [[nodiscard]] const std::string& server_name() const { return server_name_; }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::string server_name_;
};

/// Returns the text of the oldest error in this thread's OpenSSL error queue, and clears the queue.
[[nodiscard]] std::string PopTlsError();

/// Returns whether the OpenSSL error `code` is an alert in which the server rejects the client
/// certificate. With TLS 1.3 the alert arrives after the handshake.
[[nodiscard]] bool IsCertificateAlert(unsigned long code);

/// Converts an OpenSSL error of a handshake, or a later alert about the client certificate, to a
/// TransportError.
[[nodiscard]] TransportError ExplainHandshakeError(unsigned long code);

}  // namespace kopp::detail
