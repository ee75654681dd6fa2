#pragma once

#include "net/endpoint.hpp"

#include <string>
#include <string_view>

#include <kopp/secret_string.hpp>

namespace kopp::detail {

/// A proxy between this process and the API server.
struct Proxy {
  enum class Type { kHttp, kSocks5 };
  Type type = Type::kHttp;
  Endpoint endpoint = {};           ///< tls: whether kHttp uses TLS to the proxy
  SecretString authorization = {};  ///< kHttp: value of the Proxy-Authorization header
  SecretString user = {};           ///< kSocks5: at most 255 bytes; empty: none
  SecretString password = {};       ///< kSocks5: at most 255 bytes

  /// Returns the URL without user and password, for messages: "https://[::1]:3129".
  [[nodiscard]] std::string Origin() const;
};

/// Parses http://[USER:PASSWORD@]HOST[:PORT], whose default port is 80, https:// with the default
/// port 443, and socks5:// and socks5h://, which mean the same, with the default port 1080. A path
/// is ignored. User and password may be percent-encoded. Throws ConfigError for any other URL. Its
/// one-line message starts with `where` and contains no part of the URL, which may have a password.
[[nodiscard]] Proxy ParseProxy(std::string_view url, const std::string& where);

}  // namespace kopp::detail
