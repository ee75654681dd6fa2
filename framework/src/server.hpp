#pragma once

#include "endpoint.hpp"
#include "name_lookup.hpp"
#include "quoted.hpp"
#include "tls.hpp"
#include "token_source.hpp"

#include <optional>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// One API server, and what is needed to reach it; shared by the adapters that talk to it.
struct Server {
  /// Throws ConfigError.
  Server(const Config& config, const TransportOptions& transport_options)
      : options(transport_options),
        endpoint(ParseEndpoint(config.server)),
        token(config, options.clock),
        lookup(endpoint.host, endpoint.port) {
    const std::string& name = config.tls_server_name;
    if (!name.empty() && !IsHostName(name) && !IsIpv6Address(name)) {
      throw ConfigError(config.source + ": tls-server-name: " + Quoted(name) +
                        " is no name; write the one that stands in the server's certificate");
    }
    if (endpoint.tls) tls.emplace(config, name.empty() ? endpoint.host : name);
  }

  TransportOptions options;
  Endpoint endpoint;
  std::optional<TlsContext> tls;  ///< where the endpoint wants it
  TokenSource token;
  NameLookup lookup;
};

}  // namespace kopp::detail
