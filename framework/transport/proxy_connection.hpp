#pragma once

#include "http_connection.hpp"
#include "net/connection.hpp"
#include "net/endpoint.hpp"
#include "net/proxy.hpp"
#include "transport_context.hpp"

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// Asks the SOCKS5 proxy at the other end of `connection` to connect to `server` (RFC 1928), with
/// user and password if `proxy` has them (RFC 1929). Afterwards the connection is a tunnel to the
/// server. The proxy looks up the name of the server, as with socks5:// in Go. Throws
/// TransportError; its text does not name the request.
void OpenSocks5Tunnel(Connection& connection, const Proxy& proxy, const Endpoint& server,
                      TimePoint deadline);

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
