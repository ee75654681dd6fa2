#pragma once

#include <string>

#include <kopp/transport.hpp>

// The transport errors that do not depend on the HTTP library. Every adapter creates its errors
// here, so that a failure has the same kind and text whichever library reported it. The texts do
// not name the request; `AddRequestContext` adds it.
namespace kopp::detail::failure {

using Kind = TransportError::Kind;

inline TransportError ConnectionRefused() {
  return {Kind::kUnreachable, "connection refused: is the API server running there?"};
}
inline TransportError CannotConnect(const std::string& reason) {
  return {Kind::kUnreachable, "cannot connect: " + reason};
}
inline TransportError ConnectTimeout() {
  return {Kind::kTimeout,
          "timed out while connecting: is the address correct, and does a firewall block it?"};
}
inline TransportError HandshakeTimeout() {
  return {Kind::kTimeout,
          "the connection was accepted, but the TLS handshake timed out: is the server overloaded, "
          "or is it not an API server?"};
}
inline TransportError HandshakeClosed() {
  return {Kind::kUnreachable, "the server closed the connection during the TLS handshake"};
}
inline TransportError ResponseTimeout() {
  return {Kind::kTimeout, "timed out while waiting for the response"};
}
inline TransportError ClosedBeforeResponse() {
  return {Kind::kBroken, "the server closed the connection without a response"};
}
inline TransportError UnexpectedEnd() {
  return {Kind::kBroken, "the connection ended in the middle of the response"};
}
inline TransportError ConnectionBroken(const std::string& reason) {
  return {Kind::kBroken, "the connection broke: " + reason};
}
inline TransportError InvalidHttp(const std::string& reason) {
  return {Kind::kMalformed,
          "the response is not valid HTTP (" + reason + "): does an API server listen there?"};
}
inline TransportError BodyTooLarge() {
  return {Kind::kTooLarge, "the response body is larger than the limit"};
}
inline TransportError Cancelled() { return {Kind::kCancelled, "stopped"}; }

}  // namespace kopp::detail::failure
