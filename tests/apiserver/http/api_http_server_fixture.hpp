#pragma once

#include "crd/server_catalog.hpp"
#include "http/api_http_server.hpp"
#include "support/raw_client.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport.hpp>

namespace kopp {

using namespace std::chrono_literals;
using apiserver::ServerRequest;
using apiserver::ServerResponse;
using testing::RawClient;

/// Returns options with timeouts that no test reaches. A test shortens the one timeout that it
/// checks, so that no other timeout can end the connection.
inline testing::ListenOptions LongTimeouts() {
  return {.request_timeout = 1h, .idle_timeout = 1h, .write_timeout = 1h};
}

/// Returns the port of the server URL.
inline std::uint16_t PortOf(const Config& config) {
  const std::string port = config.server.substr(config.server.rfind(':') + 1);
  return static_cast<std::uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
}

/// Returns a Beast transport for `config`.
inline std::unique_ptr<Transport> Connect(const Config& config) {
  return MakeTransport(config, {.calls = TransportOptions::Calls::kBeast});
}

/// Fixture with an ApiHttpServer on a loopback port. It passes requests to `handler_`, which a test
/// can replace; by default it responds with the path of the request as plain text.
class ApiHttpServerTest : public ::testing::Test, protected apiserver::RequestHandler {
 protected:
  void Serve() {
    apiserver::RequestHandler& server = *this;
    http_server_.emplace(context_, server, lifecycle_, options_);
  }

  // The server calls Handle(), so it must be destroyed before this object.
  void TearDown() override { http_server_.reset(); }

  [[nodiscard]] Config config() { return http_server_->ConfigFor({.name = "tester"}); }
  [[nodiscard]] std::uint16_t port() { return PortOf(config()); }
  RawClient::Response Get(const std::string& target) { return testing::Get(port(), target); }

  ServerResponse Handle(const ServerRequest& request) override { return handler_(request); }

  testing::FakeClock clock_;
  apiserver::ServerContext context_{
      clock_, 1, {.clock = clock_}, {}, {.catalog = apiserver::ServerCatalog()}};
  apiserver::ServerLifecycle lifecycle_{clock_};
  testing::ListenOptions options_ = LongTimeouts();
  std::function<ServerResponse(const ServerRequest&)> handler_ = [](const ServerRequest& request) {
    return ServerResponse{.body = request.target.path, .content_type = "text/plain"};
  };
  std::optional<apiserver::ApiHttpServer> http_server_;
};

}  // namespace kopp
