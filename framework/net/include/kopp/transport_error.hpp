#pragma once

#include <stdexcept>
#include <string>

namespace kopp {

/// Thrown if there is no complete response. The server may or may not have executed the request,
/// unless the comment of the Kind says "not executed". what() names the request, the server, the
/// failure and, if known, a remedy.
class TransportError : public std::runtime_error {
 public:
  /// The kind of failure.
  enum class Kind {
    kUnreachable,       ///< no connection: unknown host, refused or no route; not executed
    kUntrusted,         ///< a certificate was rejected, or the TLS handshake failed; not executed
    kTimeout,           ///< a timeout expired
    kBroken,            ///< the connection was closed before the end of the response
    kMalformed,         ///< invalid HTTP (bad chunk, header too long), or a redirect
    kTooLarge,          ///< the body exceeds TransportOptions::max_body
    kCancelled,         ///< a stop was requested
    kNoCredentials,     ///< the credential plugin failed (Config::exec); not executed
    kForbiddenByProxy,  ///< the proxy rejected the password or the server; not executed
  };
  TransportError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace kopp
