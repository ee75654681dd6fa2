#include "net/proxy.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

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

// Returns the header value for `user_info`, which is "USER" or "USER:PASSWORD"; nullopt if it has
// an invalid percent-encoding.
std::optional<std::string> BasicAuthorization(std::string_view user_info) {
  const auto colon = std::min(user_info.find(':'), user_info.size());
  const auto user = DecodePercent(user_info.substr(0, colon));
  const auto password = DecodePercent(user_info.substr(std::min(colon + 1, user_info.size())));
  if (!user || !password) return std::nullopt;
  return "Basic " + EncodeBase64(*user + ":" + *password);
}

}  // namespace

Proxy ParseProxy(std::string_view url, const std::string& where) {
  constexpr std::string_view kScheme = "http://";
  if (url.starts_with("https://") || url.starts_with("socks5://") ||
      url.starts_with("socks5h://")) {
    throw ConfigError(
        where + ": " + std::string(url.substr(0, url.find(':'))) +
        " proxies are not supported; use the http:// address of a proxy that " +
        "supports CONNECT: the connection to an https:// server is encrypted through " +
        "the proxy");
  }
  const auto throw_invalid = [&where] {
    throw ConfigError(where + ": the proxy URL is not valid; write it as " +
                      "http://[USER:PASSWORD@]HOST:PORT, with special characters of the password " +
                      "percent-encoded");
  };
  if (!url.starts_with(kScheme)) throw_invalid();
  std::string_view rest = url.substr(kScheme.size());
  const auto path = rest.find_first_of("/?#");
  if (rest.find('@', path) != std::string_view::npos) {
    throw_invalid();  // a password with one of these characters, not encoded
  }
  rest = rest.substr(0, path);

  Proxy proxy;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    const auto authorization = BasicAuthorization(rest.substr(0, at));
    if (!authorization) throw_invalid();
    proxy.authorization = *authorization;
    rest.remove_prefix(at + 1);
  }
  try {
    proxy.endpoint = ParseEndpoint(std::string(kScheme).append(rest));
  } catch (const ConfigError&) {
    throw_invalid();
  }
  return proxy;
}

}  // namespace kopp::detail
