#include "proxy_connection.hpp"

#include "net/transport_failure.hpp"
#include "request_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <arpa/inet.h>
#include <string.h>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

constexpr std::uint8_t kVersion = 5;
constexpr std::uint8_t kNoAuthentication = 0;
constexpr std::uint8_t kUserAndPassword = 2;
constexpr std::uint8_t kNoAcceptableMethod = 0xFF;
constexpr std::uint8_t kIpv4 = 1;
constexpr std::uint8_t kName = 3;
constexpr std::uint8_t kIpv6 = 4;
constexpr const char* kCheckProxy = "; check that it is a SOCKS5 proxy";
constexpr const char* kCheckServer =
    "; check that the proxy can reach, and allows, this server and port";

char Byte(std::size_t value) { return static_cast<char>(static_cast<std::uint8_t>(value)); }

/// Reads and writes the messages of the handshake.
class Socks5Handshake {
 public:
  Socks5Handshake(Connection& connection, TimePoint deadline)
      : connection_(connection), deadline_(deadline) {}

  void Write(std::string_view bytes) {
    try {
      connection_.Write(bytes, deadline_);
    } catch (const TransportError& error) {
      if (error.kind() != ErrorKind::kBroken) throw;
      ThrowClosed();
    }
  }

  /// Returns the next `count` bytes, at most 256.
  std::string_view Read(std::size_t count) {
    for (std::size_t received = 0; received < count;) {
      received += ReadSome({bytes_.data() + received, count - received});
    }
    return {bytes_.data(), count};
  }

  std::uint8_t ReadByte() { return static_cast<std::uint8_t>(Read(1).front()); }

  void ExpectByte(std::uint8_t expected) {
    if (ReadByte() == expected) return;
    throw TransportError(
        ErrorKind::kUnreachable,
        std::string("the response of the proxy is not valid SOCKS5") + kCheckProxy);
  }

 private:
  std::size_t ReadSome(std::span<char> buffer) {
    std::optional<std::size_t> received;
    try {
      received = connection_.Read(buffer, deadline_);
    } catch (const TransportError& error) {
      if (error.kind() != ErrorKind::kBroken) throw;
      ThrowClosed();
    }
    if (!received) throw failure::ProxyTimeout("a SOCKS5 proxy");
    if (*received == 0) ThrowClosed();
    return *received;
  }

  [[noreturn]] static void ThrowClosed() {
    throw TransportError(
        ErrorKind::kUnreachable,
        std::string("the proxy closed the connection during the SOCKS5 handshake") + kCheckProxy);
  }

  Connection& connection_;
  TimePoint deadline_;
  std::array<char, 256> bytes_{};
};

[[noreturn]] void ThrowPasswordRejected() {
  throw TransportError(
      ErrorKind::kForbiddenByProxy,
      "the proxy rejected the user; set user and password in the URL of the proxy");
}

void SendPassword(Socks5Handshake& handshake, const Proxy& proxy) {
  const std::string_view user = proxy.user.Reveal();
  const std::string_view password = proxy.password.Reveal();
  std::string message;
  message.reserve(3 + user.size() + password.size());  // growing would leave a copy behind
  message += Byte(1);                                  // the version of this negotiation
  message.append(1, Byte(user.size())).append(user);
  message.append(1, Byte(password.size())).append(password);
  handshake.Write(message);
  ::explicit_bzero(message.data(), message.size());
  handshake.ExpectByte(1);
  if (handshake.ReadByte() != 0) ThrowPasswordRejected();
}

void Authenticate(Socks5Handshake& handshake, const Proxy& proxy) {
  std::string message{Byte(kVersion), Byte(1), Byte(kNoAuthentication)};
  if (!proxy.user.empty()) {
    message[1] = Byte(2);
    message += Byte(kUserAndPassword);
  }
  handshake.Write(message);
  handshake.ExpectByte(kVersion);
  const std::uint8_t method = handshake.ReadByte();
  if (method == kNoAcceptableMethod) ThrowPasswordRejected();
  if (method == kUserAndPassword && !proxy.user.empty()) return SendPassword(handshake, proxy);
  if (method == kNoAuthentication) return;
  throw TransportError(ErrorKind::kForbiddenByProxy,
                       "the proxy requires an authentication method that was not offered; use a "
                       "proxy with user and password, or without");
}

/// Returns the type and the bytes of the address of a server.
std::string EncodeAddress(const std::string& host) {
  std::array<char, sizeof(in6_addr)> address{};
  if (::inet_pton(AF_INET, host.c_str(), address.data()) == 1) {
    return Byte(kIpv4) + std::string(address.data(), sizeof(in_addr));
  }
  if (::inet_pton(AF_INET6, host.c_str(), address.data()) == 1) {
    return Byte(kIpv6) + std::string(address.data(), sizeof(in6_addr));
  }
  if (host.size() > 255) {
    throw TransportError(ErrorKind::kUnreachable,
                         "the name of the server is too long for a SOCKS5 proxy");
  }
  return std::string{Byte(kName), Byte(host.size())} + host;
}

/// Returns the meaning of a reply that is not 0.
std::string TextOfReply(std::uint8_t reply) {
  constexpr std::array kTexts = {
      "general failure",       "not allowed by its rules",
      "network unreachable",   "host unreachable",
      "connection refused",    "TTL expired",
      "command not supported", "type of address not supported",
  };
  return reply <= kTexts.size() ? kTexts[reply - 1U] : "reply " + std::to_string(reply);
}

/// Reads the address that the proxy uses, which does not matter.
void SkipAddress(Socks5Handshake& handshake) {
  constexpr std::size_t kPort = 2;
  switch (handshake.ReadByte()) {
    case kIpv4:
      static_cast<void>(handshake.Read(sizeof(in_addr) + kPort));
      break;
    case kIpv6:
      static_cast<void>(handshake.Read(sizeof(in6_addr) + kPort));
      break;
    default:
      static_cast<void>(handshake.Read(handshake.ReadByte()));
      static_cast<void>(handshake.Read(kPort));
  }
}

RequestBytes ConnectRequest(const TransportContext& context) {
  const std::string server = context.endpoint.HostAndPort();
  const std::string_view authorization = context.proxy->authorization.Reveal();
  RequestBytes request;
  request.Append({"CONNECT ", server, " HTTP/1.1\r\nHost: ", server,
                  "\r\nUser-Agent: ", context.options.user_agent, "\r\n"});
  if (!authorization.empty()) request.Append({"Proxy-Authorization: ", authorization, "\r\n"});
  request.Append({"\r\n"});
  return request;
}

}  // namespace

void OpenSocks5Tunnel(Connection& connection, const Proxy& proxy, const Endpoint& server,
                      TimePoint deadline) {
  constexpr std::uint8_t kConnect = 1;
  constexpr std::uint8_t kForbidden = 2;
  Socks5Handshake handshake(connection, deadline);
  Authenticate(handshake, proxy);
  handshake.Write(std::string{Byte(kVersion), Byte(kConnect), Byte(0)} +
                  EncodeAddress(server.host) + Byte(server.port >> 8U) + Byte(server.port & 0xFFU));
  handshake.ExpectByte(kVersion);
  const std::uint8_t reply = handshake.ReadByte();
  if (reply != 0) {
    throw TransportError(
        reply == kForbidden ? ErrorKind::kForbiddenByProxy : ErrorKind::kUnreachable,
        "the proxy refused the connection: " + TextOfReply(reply) + kCheckServer);
  }
  handshake.ExpectByte(0);  // reserved
  SkipAddress(handshake);
}

void PrepareProxyConnection(HttpConnection& connection, const TransportContext& context,
                            TimePoint deadline) {
  const auto step_deadline = [&context, deadline] {
    return std::min(deadline,
                    SaturatingAdd(Clock::Real().Now(), context.options.handshake_timeout));
  };
  try {
    if (context.proxy_tls) connection.connection().Handshake(*context.proxy_tls, step_deadline());
    if (context.proxy->type == Proxy::Type::kSocks5) {
      OpenSocks5Tunnel(connection.connection(), *context.proxy, context.endpoint, step_deadline());
    } else if (context.endpoint.tls) {
      connection.OpenTunnel(ConnectRequest(context).bytes(), step_deadline());
    }
  } catch (const TransportError& error) {
    // With TLS 1.3, an alert about a missing client certificate arrives after the handshake.
    if (error.kind() == TransportError::Kind::kUntrusted) throw UntrustedProxy(error.what());
    throw;
  }
}

}  // namespace kopp::detail
