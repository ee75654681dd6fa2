#pragma once

#include <functional>
#include <string>

namespace kopp::detail {

/// Returns an environment variable; empty if it is not set.
using EnvironmentLookup = std::function<std::string(const std::string& name)>;

/// Returns the URL of the proxy that the environment sets for the API server at the URL `server`;
/// empty: connect directly. The rules are those of Go (golang.org/x/net/http/httpproxy):
///
/// - HTTPS_PROXY for an https:// server, HTTP_PROXY for an http:// server; each also in lower case
///   if that in upper case is empty. HTTP_PROXY is ignored if REQUEST_METHOD is set: in a CGI
///   program, a client can set HTTP_PROXY with a header. "host:3128" means "http://host:3128".
/// - localhost and loopback addresses use no proxy.
/// - NO_PROXY is a comma-separated list of servers without a proxy: "example.com" (with its
///   subdomains), ".example.com" and "*.example.com" (only subdomains), "10.0.0.1", "10.0.0.0/8",
///   each but the last with an optional port, and "*" for all servers.
///
/// Throws ConfigError if the URL of the proxy is not valid; the message contains no part of it.
[[nodiscard]] std::string ProxyFromEnvironment(const std::string& server,
                                               const EnvironmentLookup& variable);

}  // namespace kopp::detail
