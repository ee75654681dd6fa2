#pragma once

#include "net/endpoint.hpp"

#include <string>
#include <string_view>

#include <kopp/secret_string.hpp>

namespace kopp::detail {

/// An HTTP proxy between this process and the API server.
struct Proxy {
  Endpoint endpoint;
  SecretString authorization;  ///< value of the Proxy-Authorization header; empty: none
};

/// Parses http://[USER:PASSWORD@]HOST[:PORT]; the default port is 80, and a path is ignored. User
/// and password may be percent-encoded. Throws ConfigError for any other URL. Its one-line message
/// starts with `where` and contains no part of the URL, which may have a password.
[[nodiscard]] Proxy ParseProxy(std::string_view url, const std::string& where);

}  // namespace kopp::detail
