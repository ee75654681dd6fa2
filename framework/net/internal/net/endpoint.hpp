#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::detail {

/// The parts of an API server URL.
struct Endpoint {
  bool tls = true;
  std::string host;  ///< a name or an IP address, IPv6 without brackets
  std::uint16_t port = 443;
  std::string base_path;  ///< prefix of every request target: "" or "/k8s/clusters/one"

  /// Returns the URL without its path, for messages: "https://[::1]:6443".
  [[nodiscard]] std::string Origin() const;

  /// Returns host and port, as in a CONNECT request: "[::1]:6443".
  [[nodiscard]] std::string HostAndPort() const;

  /// Returns the value of the Host header: "[::1]:6443". Omits the default port of the scheme.
  [[nodiscard]] std::string Authority() const;
};

/// Removes `scheme`, such as "https://", from the front of `url` in upper or lower case. Returns
/// false and changes nothing if `url` has another one.
bool ConsumeScheme(std::string_view& url, std::string_view scheme);

/// Parses http(s)://host[:port][/path]. Throws ConfigError for any other text; its one-line message
/// omits everything that may be a password.
[[nodiscard]] Endpoint ParseEndpoint(const std::string& url);

/// Returns whether `text` is a valid path with an optional query (RFC 3986). It must not start with
/// "//".
[[nodiscard]] bool IsRequestTarget(std::string_view text);

/// Returns whether all characters of `text` may appear in a host name or an IPv4 address.
[[nodiscard]] bool IsHostName(std::string_view text);

/// Returns whether `host` is an IPv4 or IPv6 address. An address needs no name lookup and is not
/// allowed in SNI.
[[nodiscard]] bool IsIpAddress(const std::string& host);
/// Returns whether `host` is an IPv6 address without brackets.
[[nodiscard]] bool IsIpv6Address(const std::string& host);

}  // namespace kopp::detail
