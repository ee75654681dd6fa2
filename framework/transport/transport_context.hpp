#pragma once

#include "base/quoted.hpp"
#include "config/config_input.hpp"
#include "credentials_provider.hpp"
#include "dead_connection_detector.hpp"
#include "http_client_messages.hpp"
#include "net/endpoint.hpp"
#include "net/name_lookup.hpp"
#include "net/proxy.hpp"
#include "net/tls.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// Thrown if the certificate of an https:// proxy is rejected, or the TLS handshake with it fails
/// (kUntrusted).
class UntrustedProxy : public TransportError {
 public:
  explicit UntrustedProxy(const std::string& what) : TransportError(Kind::kUntrusted, what) {}
};

/// The address, proxy, credentials and name lookup for one API server. The transport adapters share
/// it. Thread-safe.
struct TransportContext {
  /// Connects to `address` in place of `config.server`, unless it is null. Throws ConfigError.
  TransportContext(const Config& config, const TransportOptions& transport_options,
                   const Endpoint* address = nullptr)
      : options(transport_options),
        endpoint(ParseEndpoint(config.server)),
        authority(endpoint.Authority()),
        proxy(config.proxy_url.empty() ? std::nullopt
                                       : std::optional(ParseProxy(config.proxy_url.Reveal(),
                                                                  config.source + ": proxy-url"))),
        proxy_tls(proxy && proxy->endpoint.tls
                      ? TlsContext::ForProxy(proxy->endpoint.host, config.source + ": proxy-url")
                      : nullptr),
        credentials(config, TlsServerName(config, endpoint), options),
        lookup(Connected(address).host, Connected(address).port) {
    ValidateImpersonation(config.impersonate, config.source);
    impersonation = ImpersonationHeaders(config.impersonate);
  }

  /// Returns the headers of a request except Host and Content-Length. They refer to the arguments
  /// and to this object.
  [[nodiscard]] std::vector<Header> HeadersFor(const ApiRequest& request,
                                               const Credentials& used) const {
    auto headers = RequestHeaders(request, options.user_agent, used.authorization.Reveal());
    for (const auto& [name, value] : impersonation) headers.push_back({name, value});
    return headers;
  }

  /// Renews the credentials before the next request if `response` is a 401.
  void CheckStatus(const ApiResponse& response, const std::shared_ptr<const Credentials>& used) {
    if (response.status == 401) credentials.Invalidate(used);
  }
  /// Renews the credentials before the next request if `error` is a rejected certificate, except
  /// that of a proxy: other credentials would not help.
  void CheckError(const TransportError& error, const std::shared_ptr<const Credentials>& used) {
    const bool is_of_proxy = dynamic_cast<const UntrustedProxy*>(&error) != nullptr;
    if (error.kind() == TransportError::Kind::kUntrusted && !is_of_proxy) {
      credentials.Invalidate(used);
    }
  }

  TransportOptions options;
  Endpoint endpoint;
  std::string authority;                        ///< of the endpoint, for the header Host
  std::optional<Proxy> proxy;                   ///< empty: connect directly
  std::unique_ptr<const TlsContext> proxy_tls;  ///< null unless the proxy has an https:// URL
  CredentialsProvider credentials;
  NameLookup lookup;  ///< of the proxy if there is one, else of the address or the server
  std::vector<std::pair<std::string, std::string>> impersonation;
  DeadConnectionDetector dead_connections;

 private:
  // Returns the endpoint of the TCP connections.
  [[nodiscard]] const Endpoint& Connected(const Endpoint* address) const {
    if (proxy) return proxy->endpoint;
    return address != nullptr ? *address : endpoint;
  }

  // Returns the name to expect in the server certificate; "" for http://.
  static std::string TlsServerName(const Config& config, const Endpoint& endpoint) {
    const std::string& name = config.tls_server_name;
    if (!name.empty() && !IsHostName(name) && !IsIpv6Address(name)) {
      throw ConfigError(config.source + ": tls-server-name: " + Quoted(name) +
                        " is not a valid name; use a name from the server's certificate");
    }
    if (!endpoint.tls) return {};
    return name.empty() ? endpoint.host : name;
  }
};

}  // namespace kopp::detail
