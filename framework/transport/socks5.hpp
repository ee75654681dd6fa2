#pragma once

#include "net/connection.hpp"
#include "net/endpoint.hpp"
#include "net/proxy.hpp"

namespace kopp::detail {

/// Asks the SOCKS5 proxy at the other end of `connection` to connect to `server` (RFC 1928), with
/// user and password if `proxy` has them (RFC 1929). Afterwards the connection is a tunnel to the
/// server. The proxy looks up the name of the server, as with socks5:// in Go. Throws
/// TransportError; its text does not name the request.
void OpenSocks5Tunnel(Connection& connection, const Proxy& proxy, const Endpoint& server,
                      TimePoint deadline);

}  // namespace kopp::detail
