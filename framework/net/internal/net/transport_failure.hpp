#pragma once

#include <string>

#include <kopp/transport_error.hpp>

namespace kopp::detail {

/// The peer of a TLS handshake. Error messages name it: a connection through an https:// proxy has
/// two handshakes.
enum class TlsPeer { kServer, kProxy };

}  // namespace kopp::detail

// The transport errors that do not depend on the HTTP library. Every adapter creates its errors
// here, so that a failure has the same kind and text whichever library reported it. The texts do
// not name the request; `AddRequestContext` adds it.
namespace kopp::detail::failure {

using ErrorKind = TransportError::Kind;

inline TransportError ConnectionRefused() {
  return {ErrorKind::kUnreachable,
          "connection refused; check the address, and that a server is running there"};
}
inline TransportError CannotConnect(const std::string& reason) {
  return {ErrorKind::kUnreachable,
          "cannot connect: " + reason + "; check the address, the network and firewalls"};
}
inline TransportError ConnectTimeout() {
  return {ErrorKind::kTimeout, "timed out while connecting; check the address and firewalls"};
}
inline TransportError HandshakeTimeout(TlsPeer peer = TlsPeer::kServer) {
  if (peer == TlsPeer::kProxy) {
    return {ErrorKind::kTimeout,
            "the proxy accepted the connection, but the TLS handshake with the proxy timed out; "
            "check that it is an https:// proxy and is not overloaded"};
  }
  return {ErrorKind::kTimeout,
          "the connection was accepted, but the TLS handshake with the server timed out; check "
          "that the server is an API server and is not overloaded"};
}
inline TransportError HandshakeClosed(TlsPeer peer = TlsPeer::kServer) {
  if (peer == TlsPeer::kProxy) {
    return {ErrorKind::kUnreachable,
            "the proxy closed the connection during the TLS handshake with the proxy; check that "
            "it is an https:// proxy"};
  }
  return {
      ErrorKind::kUnreachable,
      "the server closed the connection during the TLS handshake; check that it serves HTTPS at "
      "this address, and whether a firewall or proxy closes the connection"};
}
inline TransportError ResponseTimeout() {
  return {ErrorKind::kTimeout,
          "timed out while waiting for the response; check whether the server is overloaded, and "
          "proxies and firewalls in front of it"};
}
inline TransportError ProxyTimeout(const std::string& type) {
  return {ErrorKind::kTimeout,
          "the proxy accepted the connection, but did not respond in time; check that it is " +
              type + ", and that it can reach the server"};
}
// 5xx and 429 may end by themselves. Another status is permanent, and a retry with a wrong password
// could lock the account.
inline TransportError ProxyRefused(int status) {
  const bool temporary = status >= 500 || status == 429;
  const std::string advice =
      status == 407 ? "set user and password in the URL of the proxy"
                    : "check that the proxy can reach, and allows, this server and port";
  return {temporary ? ErrorKind::kUnreachable : ErrorKind::kForbiddenByProxy,
          "the proxy refused the connection with status " + std::to_string(status) + "; " + advice};
}
inline TransportError ClosedByProxy() {
  return {ErrorKind::kUnreachable,
          "the proxy closed the connection during CONNECT; check that it is an HTTP proxy"};
}
inline TransportError InvalidProxyResponse() {
  return {ErrorKind::kUnreachable,
          "the response of the proxy to CONNECT is not valid HTTP; check that it is an HTTP proxy"};
}
inline TransportError ClosedBeforeResponse() {
  return {
      ErrorKind::kBroken,
      "the server closed the connection without a response; check whether its address starts with "
      "https://, and proxies and firewalls in front of it"};
}
inline TransportError UnexpectedEnd() {
  return {
      ErrorKind::kBroken,
      "the connection ended in the middle of the response; check proxies and firewalls in front "
      "of the server"};
}
inline TransportError ConnectionBroken(const std::string& reason) {
  return {ErrorKind::kBroken, "the connection broke: " + reason +
                                  "; check proxies and firewalls in front of the server"};
}
inline TransportError SilentConnection() {
  return {ErrorKind::kBroken,
          "closed the connection, which was silent while new connections to the server work; check "
          "proxies and load balancers in front of the server"};
}
inline TransportError InvalidHttp(const std::string& reason) {
  return {ErrorKind::kMalformed, "the response is not valid HTTP (" + reason +
                                     "); check that the server address is that of an API server"};
}
inline TransportError BodyTooLarge() {
  return {
      ErrorKind::kTooLarge,
      "the response body is larger than TransportOptions::max_body; raise the limit, or request "
      "less at once"};
}
inline TransportError NoCredentials(const std::string& reason) {
  return {ErrorKind::kNoCredentials, reason};
}
inline TransportError CredentialPluginTimeout() {
  return {ErrorKind::kTimeout,
          "timed out while waiting for the credential plugin; run the command of users[].user.exec "
          "in a shell to see what it waits for"};
}
inline TransportError Cancelled() {
  return {ErrorKind::kCancelled, "cancelled because a stop was requested"};
}

}  // namespace kopp::detail::failure
