#pragma once

#include "http_connection.hpp"
#include "transport_context.hpp"

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Prepares `connection`, a new TCP connection to the proxy of `context`, so that the TLS handshake
/// with an https:// server, or a request to an http:// server, can follow:
///
/// - An https:// proxy first gets a TLS handshake. What follows is encrypted for the proxy.
/// - An HTTP proxy forwards the requests to an http:// server, which need no preparation. For an
///   https:// server, CONNECT makes the connection a tunnel.
/// - Through a SOCKS5 proxy, the connection is always a tunnel.
///
/// Each step has the time of TransportOptions::handshake_timeout. Throws TransportError; its text
/// does not name the request.
void PrepareProxyConnection(HttpConnection& connection, const TransportContext& context,
                            TimePoint deadline);

}  // namespace kopp::detail
