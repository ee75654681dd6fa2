#pragma once

#include <string>

#include <kopp/transport.hpp>

// What goes wrong on the way to a server, in the same words whichever library met it.
namespace kopp::detail::failure {

using Kind = TransportError::Kind;

inline TransportError Refused() {
  return {Kind::kUnreachable, "connection refused: is the API server running there?"};
}
inline TransportError CannotConnect(const std::string& why) {
  return {Kind::kUnreachable, "cannot connect: " + why};
}
inline TransportError ConnectTimeout() {
  return {Kind::kTimeout,
          "no answer to the attempt to connect: is the address right, and is there a firewall "
          "between?"};
}
inline TransportError HandshakeTimeout() {
  return {Kind::kTimeout,
          "the connection was accepted, but the TLS handshake did not end in time: is the server "
          "overloaded, or something other than an API server?"};
}
inline TransportError HandshakeClosed() {
  return {Kind::kUnreachable, "the server closed the connection during the TLS handshake"};
}
inline TransportError Timeout() { return {Kind::kTimeout, "no answer in time"}; }
inline TransportError Unanswered() {
  return {Kind::kBroken, "the server closed the connection without an answer"};
}
inline TransportError CutShort() {
  return {Kind::kBroken, "the connection ended in the middle of the answer"};
}
inline TransportError Broken(const std::string& why) {
  return {Kind::kBroken, "the connection broke: " + why};
}
inline TransportError NotHttp(const std::string& why) {
  return {Kind::kMalformed,
          "the answer is not HTTP as it should be (" + why + "): does an API server listen there?"};
}
inline TransportError TooLarge() {
  return {Kind::kTooLarge, "the answer is longer than is allowed here"};
}
inline TransportError Stopped() { return {Kind::kCancelled, "stopped"}; }

}  // namespace kopp::detail::failure
