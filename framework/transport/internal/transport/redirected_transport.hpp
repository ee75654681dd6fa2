#pragma once

#include "net/endpoint.hpp"

#include <memory>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// Same as MakeTransport, but connects to the host and port of `address`, like curl's --resolve.
/// `config.server` still gives the Host header and the name in the certificate of the server. Calls
/// use Boost.Beast. Throws ConfigError.
[[nodiscard]] std::unique_ptr<Transport> MakeRedirectedTransport(const Config& config,
                                                                 const Endpoint& address,
                                                                 const TransportOptions& options);

}  // namespace kopp::detail
