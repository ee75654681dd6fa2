#include "beast_transport.hpp"
#include "rest_transport.hpp"
#include "server.hpp"

#include <algorithm>

#include <kopp/transport.hpp>

namespace kopp {
namespace {

void CheckOptions(const TransportOptions& options) {
  const auto visible = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (!std::all_of(options.user_agent.begin(), options.user_agent.end(), visible)) {
    throw ConfigError("the user agent has characters that no header may have");
  }
}

}  // namespace

std::unique_ptr<Transport> MakeTransport(const Config& config, const TransportOptions& options) {
  CheckOptions(options);
  auto server = std::make_shared<detail::Server>(config, options);
  const bool beyond_cpprestsdk =
      detail::IsIpv6Address(server->endpoint.host) || !config.tls_server_name.empty();
  if (options.calls == TransportOptions::Calls::kBeast || beyond_cpprestsdk) {
    return std::make_unique<detail::BeastTransport>(std::move(server));
  }
  return detail::MakeRestTransport(std::move(server));
}

}  // namespace kopp
