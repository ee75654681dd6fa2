#include "endpoint.hpp"

#include "http_rules.hpp"
#include "quoted.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

#include <kopp/config.hpp>

namespace kopp::detail {
namespace {

// What stands before the last @ is, or is meant for, a name and a password: not for a message.
[[noreturn]] void Refuse(const std::string& url, const std::string& why) {
  throw ConfigError(Quoted(url.substr(url.rfind('@') + 1)) + " is not a server's address: " + why +
                    "; write it as https://HOST:PORT");
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

// Takes "name", "10.0.0.1" or "[::1]" from the front of `authority`.
std::string TakeHost(const std::string& url, std::string_view& authority) {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) Refuse(url, "it has a [ without its ]");
    std::string host(authority.substr(1, end - 1));
    if (!IsIpv6Address(host)) Refuse(url, "what stands in [] is no IPv6 address");
    authority.remove_prefix(end + 1);
    return host;
  }
  std::string host(authority.substr(0, authority.find(':')));
  if (host.empty()) Refuse(url, "it has no host");
  if (!IsHostName(host)) Refuse(url, "the host is no name");
  authority.remove_prefix(host.size());
  return host;
}

std::uint16_t ParsePort(const std::string& url, std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    Refuse(url, "the port is no number from 1 to 65535");
  }
  return port;
}

}  // namespace

std::string Endpoint::Origin() const {
  const bool brackets = IsIpv6Address(host);
  return std::string(tls ? "https://" : "http://") + (brackets ? "[" + host + "]" : host) + ":" +
         std::to_string(port);
}

std::string Endpoint::Authority() const {
  const std::string name = IsIpv6Address(host) ? "[" + host + "]" : host;
  return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

Endpoint ParseEndpoint(const std::string& url) {
  std::string_view rest = url;
  Endpoint endpoint;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    endpoint.tls = false;
    endpoint.port = 80;
  } else {
    Refuse(url, "it begins with neither https:// nor http://");
  }
  if (rest.find_first_of("@?#") != std::string_view::npos) {
    Refuse(url, "a user, a query or a fragment has no place in it");
  }

  std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty() && !IsTarget(path)) {
    Refuse(url, "its path is none of a URI, where what is special is written as %20 and the like");
  }
  endpoint.base_path = path;
  endpoint.host = TakeHost(url, authority);
  if (authority.starts_with(':')) {
    endpoint.port = ParsePort(url, authority.substr(1));
  } else if (!authority.empty()) {
    Refuse(url, "what stands behind the host is no port");
  }
  return endpoint;
}

bool IsHostName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsHostCharacter);
}

bool IsIpv6Address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

bool IsAddress(const std::string& host) {
  in_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 || IsIpv6Address(host);
}

}  // namespace kopp::detail
