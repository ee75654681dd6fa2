#include "proxy_environment.hpp"

#include "net/endpoint.hpp"
#include "net/proxy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <arpa/inet.h>

namespace kopp::detail {
namespace {

// An IPv6 address in network byte order, or an IPv4 address as the IPv6 address ::ffff:a.b.c.d.
using IpBytes = std::array<std::uint8_t, 16>;
constexpr std::size_t kIpv4Offset = 96;  // bits before the IPv4 address

bool IsIpv4(const IpBytes& ip) {
  constexpr std::array<std::uint8_t, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kPrefix.begin(), kPrefix.end(), ip.begin());
}

std::optional<IpBytes> ParseIp(const std::string& text) {
  IpBytes ip{};
  const std::string ipv6 = text.find(':') == std::string::npos ? "::ffff:" + text : text;
  return ::inet_pton(AF_INET6, ipv6.c_str(), ip.data()) == 1 ? std::optional(ip) : std::nullopt;
}

bool IsLoopback(const IpBytes& ip) {
  IpBytes loopback{};
  loopback.back() = 1;
  return ip == loopback || (IsIpv4(ip) && ip[12] == 127);
}

bool SharePrefix(const IpBytes& a, const IpBytes& b, std::size_t bits) {
  for (std::size_t i = 0; i < bits; ++i) {
    if (((a[i / 8] ^ b[i / 8]) & (0x80U >> i % 8)) != 0) return false;
  }
  return true;
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string Trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Removes ":PORT" from the end of `host`, and the brackets of "[IPv6]:PORT". Returns the port, or
// "" if there is none.
std::string RemovePort(std::string& host) {
  const auto colon = host.rfind(':');
  if (colon == std::string::npos) return {};
  const bool has_brackets = host.front() == '[' && host[colon - 1] == ']';
  if (!has_brackets && host.find(':') != colon) return {};  // an IPv6 address
  std::string port = host.substr(colon + 1);
  host = has_brackets ? host.substr(1, colon - 2) : host.substr(0, colon);
  return port;
}

// Returns whether `ip` is in the network "ADDRESS/BITS"; nullopt if `text` is not a network.
std::optional<bool> IsInNetwork(const std::optional<IpBytes>& ip, const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto network = ParseIp(text.substr(0, slash));
  std::uint8_t length = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data() + slash + 1, end, length);
  if (!network || error != std::errc() || parsed_end != end) return std::nullopt;
  const std::size_t bits = length + (IsIpv4(*network) ? kIpv4Offset : 0);
  if (bits > 128) return std::nullopt;
  return ip && IsIpv4(*ip) == IsIpv4(*network) && SharePrefix(*ip, *network, bits);
}

// Returns whether `entry`, an element of NO_PROXY without its port, matches the host name `host`.
bool MatchesName(const std::string& host, std::string entry) {
  if (entry.starts_with("*.")) entry.erase(0, 1);
  if (entry.starts_with('.')) return host.ends_with(entry);
  return host == entry || host.ends_with('.' + entry);
}

// Returns whether `entry`, an element of NO_PROXY, matches `server`.
bool MatchesServer(const Endpoint& server, std::string entry) {
  if (entry.empty()) return false;
  if (entry == "*") return true;
  const std::string host = LowerCase(server.host);
  const auto ip = ParseIp(host);
  if (const auto in_network = IsInNetwork(ip, entry)) return *in_network;
  const std::string port = RemovePort(entry);
  if (entry.empty() || (!port.empty() && port != std::to_string(server.port))) return false;
  if (const auto address = ParseIp(entry)) return ip == address;
  return !ip && MatchesName(host, entry);
}

bool IsExcluded(const Endpoint& server, const std::string& no_proxy) {
  if (server.host == "localhost") return true;
  if (const auto ip = ParseIp(server.host); ip && IsLoopback(*ip)) return true;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = no_proxy.find(',', begin);
    if (MatchesServer(server, LowerCase(Trim(no_proxy.substr(begin, end - begin))))) return true;
  }
  return false;
}

}  // namespace

std::string ProxyFromEnvironment(const std::string& server, const EnvironmentLookup& variable) {
  const auto in_either_case = [&variable](const std::string& name) {
    const std::string upper = variable(name);
    return upper.empty() ? variable(LowerCase(name)) : upper;
  };
  const Endpoint endpoint = ParseEndpoint(server);
  if (!endpoint.tls && !variable("REQUEST_METHOD").empty()) return {};
  const std::string name = endpoint.tls ? "HTTPS_PROXY" : "HTTP_PROXY";
  std::string url = Trim(in_either_case(name));
  if (url.empty() || IsExcluded(endpoint, in_either_case("NO_PROXY"))) return {};
  if (url.find("://") == std::string::npos) url.insert(0, "http://");
  static_cast<void>(ParseProxy(url, '$' + name));
  return url;
}

}  // namespace kopp::detail
