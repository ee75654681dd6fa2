#pragma once

#include "net/transport_failure.hpp"

#include <atomic>
#include <memory>
#include <string>

#include <openssl/ssl.h>

#include <kopp/secret_string.hpp>
#include <kopp/transport_error.hpp>

namespace kopp::detail {

/// The outcome of one TLS handshake. Written by the thread that runs the handshake. Other threads
/// may read `done` at any time, and `verify_error` only after the handshake has failed.
struct HandshakeResult {
  std::atomic<bool> done = false;  ///< the handshake is complete
  /// The reason for which the certificate of `peer` was rejected, and a remedy; otherwise empty.
  std::string verify_error;
  TlsPeer peer = TlsPeer::kServer;
};

/// What a TLS client trusts, and its certificate. Certificates and keys are PEM.
struct TlsSettings {
  std::string source{};                 ///< names the configuration in errors
  std::string certificate_authority{};  ///< empty: the CAs of the system
  bool insecure_skip_tls_verify = false;
  std::string client_certificate{};  ///< the leaf first; empty: none
  SecretString client_key{};
};

/// The TLS client configuration for one server or https:// proxy: TLS 1.2 or later. It trusts only
/// TlsSettings::certificate_authority, or the CAs of the system if that is empty, and requires the
/// server name in the subjectAltName of the server certificate. With
/// TlsSettings::insecure_skip_tls_verify it verifies nothing. All connections to the server share
/// one context, so certificates are parsed only once. Thread-safe.
class TlsContext {
 public:
  /// The server certificate must be valid for `server_name`, a host name or IP address. Throws
  /// ConfigError if a certificate, the key or `server_name` is invalid, or if options contradict
  /// each other.
  TlsContext(const TlsSettings& settings, std::string server_name);

  /// Returns the configuration for the https:// proxy `host`, which `where` names in errors. It
  /// trusts only the CAs of the system and presents no client certificate: those of the server are
  /// not for the proxy. Throws ConfigError if `host` is invalid.
  [[nodiscard]] static std::unique_ptr<const TlsContext> ForProxy(const std::string& host,
                                                                  const std::string& where);

  /// Returns a new session for one connection. Sets SNI unless the server name is an IP address.
  /// The handshake of the session writes its outcome to `result`, which must outlive the session.
  [[nodiscard]] std::unique_ptr<SSL, decltype(&SSL_free)> NewSession(HandshakeResult& result) const;

  /// Makes `ssl`, a session of this context, write the outcome of its handshake to `result`, which
  /// must outlive `ssl`.
  static void Attach(SSL* ssl, HandshakeResult& result);

  /// Returns whether `session` was created by this context; false for null.
  [[nodiscard]] bool IsContextOf(const SSL* session) const;

  /// Returns a new reference to the context. The caller owns it and must call SSL_CTX_free.
  [[nodiscard]] SSL_CTX* NewReference() const;

  /// Returns whether the server certificate is verified (no insecure-skip-tls-verify).
  [[nodiscard]] bool verifies_server() const;

  [[nodiscard]] const std::string& server_name() const { return server_name_; }
  [[nodiscard]] TlsPeer peer() const { return peer_; }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::string server_name_;
  TlsPeer peer_ = TlsPeer::kServer;
};

/// Returns the text of the oldest error in the OpenSSL error queue of this thread, and clears the
/// queue.
[[nodiscard]] std::string ReadAndClearTlsErrors();

/// Returns whether the OpenSSL error `code` is an alert in which the peer rejects the client
/// certificate. With TLS 1.3 the alert arrives after the handshake.
[[nodiscard]] bool IsCertificateAlert(unsigned long code);

/// Converts an OpenSSL error of a handshake with `peer`, or a later alert about the client
/// certificate, to a TransportError.
[[nodiscard]] TransportError ToTransportError(unsigned long code, TlsPeer peer = TlsPeer::kServer);

}  // namespace kopp::detail
