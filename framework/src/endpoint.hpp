#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kopp::detail {

/// Where the API server is, as its URL says.
struct Endpoint {
  bool tls = true;
  std::string host;  ///< a name or an address; an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string base_path;  ///< what stands before every target: "" or "/k8s/clusters/one"

  /// "https://[::1]:6443", as messages have it.
  [[nodiscard]] std::string Origin() const;

  /// "[::1]:6443", as the Host header has it: a port that the scheme implies is left out.
  [[nodiscard]] std::string Authority() const;
};

/// Throws ConfigError, one line without what may be a password, for what is not
/// http(s)://host[:port][/path].
[[nodiscard]] Endpoint ParseEndpoint(const std::string& url);

/// Whether `text` has the characters of a name, or of an IPv4 address.
[[nodiscard]] bool IsHostName(std::string_view text);

/// Whether `host` is an address in numbers, which needs no look-up and has no place in SNI.
[[nodiscard]] bool IsAddress(const std::string& host);
[[nodiscard]] bool IsIpv6Address(const std::string& host);

}  // namespace kopp::detail
