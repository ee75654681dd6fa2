#include "net/proxy.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <openssl/evp.h>

#include <kopp/config.hpp>

namespace kopp::detail {
namespace {

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

std::string EncodeBase64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with room for the final null character
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

struct UserInfo {
  std::string user;
  std::string password;
};

// Parses "USER" or "USER:PASSWORD". Returns nullopt for an invalid percent-encoding.
std::optional<UserInfo> ParseUserInfo(std::string_view text) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto user = DecodePercent(text.substr(0, colon));
  const auto password = DecodePercent(text.substr(std::min(colon + 1, text.size())));
  if (!user || !password) return std::nullopt;
  return UserInfo{*user, *password};
}

// Removes the scheme from `url`. Returns nullopt if it is not the scheme of a supported proxy.
std::optional<Proxy::Type> RemoveScheme(std::string_view& url) {
  for (const auto& [scheme, type] : {std::pair{std::string_view("http://"), Proxy::Type::kHttp},
                                     {"socks5://", Proxy::Type::kSocks5},
                                     {"socks5h://", Proxy::Type::kSocks5}}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    return type;
  }
  return std::nullopt;
}

// Returns false if user or password are not valid for the proxy.
bool SetUser(Proxy& proxy, std::string_view user_info) {
  constexpr std::size_t kMaxSocks5 = 255;
  const auto info = ParseUserInfo(user_info);
  if (!info) return false;
  if (proxy.type == Proxy::Type::kHttp) {
    proxy.authorization = "Basic " + EncodeBase64(info->user + ":" + info->password);
    return true;
  }
  proxy.user = info->user;
  proxy.password = info->password;
  return info->user.size() <= kMaxSocks5 && info->password.size() <= kMaxSocks5;
}

}  // namespace

std::string Proxy::Origin() const {
  return (type == Type::kHttp ? "http://" : "socks5://") + endpoint.HostAndPort();
}

Proxy ParseProxy(std::string_view url, const std::string& where) {
  if (url.starts_with("https://")) {
    throw ConfigError(where +
                      ": https proxies are not supported; use the http:// address of a proxy that "
                      "supports CONNECT: the connection to an https:// server is encrypted through "
                      "the proxy");
  }
  const auto throw_invalid = [&where] {
    throw ConfigError(where + ": the proxy URL is not valid; write it as " +
                      "http://[USER:PASSWORD@]HOST:PORT, with special characters of the password " +
                      "percent-encoded");
  };
  std::string_view rest = url;
  const auto type = RemoveScheme(rest);
  if (!type) throw_invalid();
  const auto path = rest.find_first_of("/?#");
  if (rest.find('@', path) != std::string_view::npos) {
    throw_invalid();  // a password with one of these characters, not encoded
  }
  rest = rest.substr(0, path);

  Proxy proxy{.type = *type};
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    if (!SetUser(proxy, rest.substr(0, at))) throw_invalid();
    rest.remove_prefix(at + 1);
  }
  try {
    proxy.endpoint = ParseEndpoint("http://" + std::string(rest));
  } catch (const ConfigError&) {
    throw_invalid();
  }
  constexpr std::uint16_t kSocks5Port = 1080;
  const bool has_port = proxy.endpoint.port != 80 || rest.ends_with(":80");
  if (*type == Proxy::Type::kSocks5 && !has_port) proxy.endpoint.port = kSocks5Port;
  return proxy;
}

}  // namespace kopp::detail
