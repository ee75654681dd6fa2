#pragma once

#include "net/endpoint.hpp"

#include <string>

namespace kopp::detail {

/// An HTTP proxy between this process and the API server.
struct Proxy {
  Endpoint endpoint;
  std::string authorization;  ///< value of the Proxy-Authorization header, or empty; never printed
};

/// Parses http://[USER:PASSWORD@]HOST[:PORT]; the default port is 80, and a path is ignored. User
/// and password may be percent-encoded. Throws ConfigError for any other URL. Its one-line message
/// starts with `where` and contains no part of the URL, which may have a password.
[[nodiscard]] Proxy ParseProxy(const std::string& url, const std::string& where);

}  // namespace kopp::detail
