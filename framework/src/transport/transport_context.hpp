#pragma once

#include "config/token_source.hpp"
#include "net/endpoint.hpp"
#include "net/name_lookup.hpp"
#include "net/proxy.hpp"
#include "net/tls.hpp"
#include "system/quoted.hpp"

#include <optional>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// The address, proxy, TLS configuration, token and name lookup for one API server. The transport
/// adapters share it. Thread-safe.
struct TransportContext {
  /// Throws ConfigError.
  TransportContext(const Config& config, const TransportOptions& transport_options)
      : options(transport_options),
        endpoint(ParseEndpoint(config.server)),
        proxy(config.proxy_url.empty()
                  ? std::nullopt
                  : std::optional(ParseProxy(config.proxy_url, config.source + ": proxy-url"))),
        token(config, options.clock),
        lookup(proxy ? proxy->endpoint.host : endpoint.host,
               proxy ? proxy->endpoint.port : endpoint.port) {
    const std::string& name = config.tls_server_name;
    if (!name.empty() && !IsHostName(name) && !IsIpv6Address(name)) {
      throw ConfigError(config.source + ": tls-server-name: " + Quoted(name) +
                        " is not a valid name; use a name from the server's certificate");
    }
    if (endpoint.tls) tls.emplace(config, name.empty() ? endpoint.host : name);
  }

  TransportOptions options;
  Endpoint endpoint;
  std::optional<Proxy> proxy;     ///< empty: connect directly
  std::optional<TlsContext> tls;  ///< empty for http://
  TokenSource token;
  NameLookup lookup;  ///< of the proxy if there is one, else of the server
};

}  // namespace kopp::detail
