#include "proxy_connection.hpp"

#include "request_bytes.hpp"
#include "socks5.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace kopp::detail {
namespace {

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
