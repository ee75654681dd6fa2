#include "net/endpoint.hpp"

#include "base/ascii.hpp"
#include "base/quoted.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

// The message omits everything before the last @, because that may be a user and a password.
[[noreturn]] void ThrowInvalidUrl(const std::string& url, const std::string& reason) {
  throw ConfigError(Quoted(url.substr(url.rfind('@') + 1)) + " is not a valid server address: " +
                    reason + "; write it as https://HOST:PORT");
}

bool IsHostCharacter(char c) { return IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_'; }

bool IsPathOrQueryCharacter(char c) {
  return IsLetterOrDigit(c) || c == '/' || c == '-' || c == '.' || c == '=' ||
         std::string_view("_~!$&'()*+,;:@?").find(c) != std::string_view::npos;
}

// Removes "name", "10.0.0.1" or "[::1]" from the front of `authority` and returns it without
// brackets.
std::string ConsumeHost(const std::string& url, std::string_view& authority) {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) ThrowInvalidUrl(url, "the ] after [ is missing");
    std::string host(authority.substr(1, end - 1));
    if (!IsIpv6Address(host)) ThrowInvalidUrl(url, "the text in [] is not an IPv6 address");
    authority.remove_prefix(end + 1);
    return host;
  }
  std::string host(authority.substr(0, authority.find(':')));
  if (host.empty()) ThrowInvalidUrl(url, "the host is missing");
  if (!IsHostName(host))
    ThrowInvalidUrl(url, "the host has characters that are not allowed in a name");
  authority.remove_prefix(host.size());
  return host;
}

std::uint16_t ParsePort(const std::string& url, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    ThrowInvalidUrl(url, "the port is not a number from 1 to 65535");
  }
  return port;
}

}  // namespace

std::string Endpoint::Origin() const { return (tls ? "https://" : "http://") + HostAndPort(); }

std::string Endpoint::HostAndPort() const {
  return (IsIpv6Address(host) ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Endpoint::Authority() const {
  const std::string name = IsIpv6Address(host) ? "[" + host + "]" : host;
  return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

bool ConsumeScheme(std::string_view& url, std::string_view scheme) {
  if (ToLowerAscii(url.substr(0, scheme.size())) != scheme) return false;
  url.remove_prefix(scheme.size());
  return true;
}

Endpoint ParseEndpoint(const std::string& url) {
  std::string_view rest = url;
  Endpoint endpoint;
  if (ConsumeScheme(rest, "http://")) {
    endpoint.tls = false;
    endpoint.port = 80;
  } else if (!ConsumeScheme(rest, "https://")) {
    ThrowInvalidUrl(url, "it does not start with https:// or http://");
  }
  if (rest.find_first_of("@?#") != std::string_view::npos) {
    ThrowInvalidUrl(url, "it must not contain a user, a query or a fragment");
  }

  std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && !IsRequestTarget(path)) {
    ThrowInvalidUrl(url,
                    "its path is not a valid URI path; percent-encode special characters (%20)");
  }
  endpoint.base_path = path;
  endpoint.host = ConsumeHost(url, authority);
  if (authority.starts_with(':')) {
    endpoint.port = ParsePort(url, authority.substr(1));
  } else if (!authority.empty()) {
    ThrowInvalidUrl(url, "the text after the host is not a port");
  }
  return endpoint;
}

bool IsRequestTarget(std::string_view text) {
  if (!text.starts_with('/') || text.starts_with("//")) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !IsHexDigit(text[i + 1]) || !IsHexDigit(text[i + 2]))
        return false;
    } else if (!IsPathOrQueryCharacter(text[i])) {
      return false;
    }
  }
  return true;
}

bool IsHostName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsHostCharacter);
}

bool IsIpv6Address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

bool IsIpAddress(const std::string& host) {
  in_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 || IsIpv6Address(host);
}

}  // namespace kopp::detail
