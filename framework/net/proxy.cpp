#include "net/proxy.hpp"

#include "base/base64.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include <kopp/config_error.hpp>

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

struct Scheme {
  std::string_view prefix;  // of the URL
  Proxy::Type type;
  std::string_view endpoint_prefix;  // of a URL that ParseEndpoint accepts
};
constexpr std::array kSchemes = {
    Scheme{"http://", Proxy::Type::kHttp, "http://"},
    Scheme{"https://", Proxy::Type::kHttp, "https://"},
    Scheme{"socks5://", Proxy::Type::kSocks5, "http://"},
    Scheme{"socks5h://", Proxy::Type::kSocks5, "http://"},
};

// Removes the scheme from `url` and returns it; null if no supported proxy has it.
const Scheme* RemoveScheme(std::string_view& url) {
  for (const Scheme& scheme : kSchemes) {
    if (ConsumeScheme(url, scheme.prefix)) return &scheme;
  }
  return nullptr;
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
  const std::string scheme =
      type == Type::kSocks5 ? "socks5://" : (endpoint.tls ? "https://" : "http://");
  return scheme + endpoint.HostAndPort();
}

Proxy ParseProxy(std::string_view url, const std::string& where) {
  const auto throw_invalid = [&where](const char* reason) {
    throw ConfigError(where + ": the proxy URL is not valid: " + reason + "; write it as " +
                      "http://[USER:PASSWORD@]HOST:PORT, with special characters of the password " +
                      "percent-encoded");
  };
  std::string_view rest = url;
  const Scheme* scheme = RemoveScheme(rest);
  if (scheme == nullptr) {
    throw_invalid("it does not start with http://, https://, socks5:// or socks5h://");
  }
  const auto path = rest.find_first_of("/?#");
  if (rest.find('@', path) != std::string_view::npos) {
    throw_invalid("its user or password has a /, ? or # that is not encoded");
  }
  rest = rest.substr(0, path);

  Proxy proxy{.type = scheme->type};
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    if (!SetUser(proxy, rest.substr(0, at))) {
      throw_invalid("its user or password is not correctly encoded, or is too long");
    }
    rest.remove_prefix(at + 1);
  }
  try {
    proxy.endpoint = ParseEndpoint(std::string(scheme->endpoint_prefix).append(rest));
  } catch (const ConfigError&) {
    throw_invalid("its host or port is missing or not valid");
  }
  constexpr std::uint16_t kSocks5Port = 1080;
  const bool has_port = proxy.endpoint.port != 80 || rest.ends_with(":80");
  if (proxy.type == Proxy::Type::kSocks5 && !has_port) proxy.endpoint.port = kSocks5Port;
  return proxy;
}

}  // namespace kopp::detail
