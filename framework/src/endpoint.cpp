#include "endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <arpa/inet.h>

#include <kopp/config.hpp>

namespace kopp::detail {
namespace {

[[noreturn]] void Refuse(const std::string& url, const std::string& why) {
  throw ConfigError("server address \"" + url + "\": " + why +
                    "; it should look like https://10.0.0.1:6443");
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool IsPathCharacter(char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '<' && c != '>'; }

// Takes "name", "10.0.0.1" or "[::1]" from the front of `authority`.
std::string TakeHost(const std::string& url, std::string_view& authority) {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) Refuse(url, "a [ without its ]");
    std::string host(authority.substr(1, end - 1));
    if (!IsIpv6Address(host)) Refuse(url, "what stands in [] is no IPv6 address");
    authority.remove_prefix(end + 1);
    return host;
  }
  std::string host(authority.substr(0, authority.find(':')));
  if (host.empty()) Refuse(url, "no host");
  if (!std::all_of(host.begin(), host.end(), IsHostCharacter)) Refuse(url, "no valid host name");
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
    Refuse(url, "neither https:// nor http:// in front");
  }
  if (!std::all_of(rest.begin(), rest.end(), IsPathCharacter)) Refuse(url, "a stray character");
  if (rest.find_first_of("@?#") != std::string_view::npos) {
    Refuse(url, "credentials, a query or a fragment have no place in it");
  }

  std::string_view authority = rest.substr(0, rest.find('/'));
  std::string_view path = rest.substr(authority.size());
  while (path.ends_with('/')) path.remove_suffix(1);
  endpoint.base_path = path;
  endpoint.host = TakeHost(url, authority);
  if (authority.starts_with(':')) {
    endpoint.port = ParsePort(url, authority.substr(1));
  } else if (!authority.empty()) {
    Refuse(url, "something other than a port behind the host");
  }
  return endpoint;
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
