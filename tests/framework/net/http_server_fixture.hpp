#pragma once

#include "support/raw_client.hpp"

#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/http_server.hpp>

namespace kopp {

using namespace std::chrono_literals;
using testing::Get;
using testing::RawClient;

inline constexpr std::size_t kLarge = 32 << 20;  // larger than the socket buffers

/// Fixture with an HttpServer on a loopback port. Its timeouts are longer than any test. A test
/// shortens the one timeout that it checks, so that no other timeout can end the connection.
///
/// It serves /page, /echo (returns the query), /large, /slow (blocks until Proceed() is called) and
/// /broken (throws). A test adds its own routes to `routes_`.
class HttpServerTest : public ::testing::Test {
 protected:
  ~HttpServerTest() override { Proceed(); }

  HttpServer& Serve() {
    server_.emplace(options_, routes_);
    return *server_;
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

  /// Returns a client whose request for /slow is being handled. Blocks until the handler runs.
  std::unique_ptr<RawClient> SlowClient() {
    auto client = std::make_unique<RawClient>(port());
    client->SendGet("/slow");
    entered_.wait();
    return client;
  }
  /// Makes the handlers of /slow return.
  void Proceed() {
    if (!proceed_.try_wait()) proceed_.count_down();
  }

  HttpServerOptions options_{.address = "127.0.0.1:0",
                             .request_timeout = 1h,
                             .idle_timeout = 1h,
                             .drain_timeout = 1h,
                             .write_timeout = 1h};
  HttpServer::Routes routes_{
      {"/page", [](const HttpRequest&) { return HttpResponse{.body = "hello\n"}; }},
      {"/echo",
       [](const HttpRequest& request) {
         return HttpResponse{.body = request.query, .content_type = "a/b"};
       }},
      {"/large", [](const HttpRequest&) { return HttpResponse{.body = std::string(kLarge, 'x')}; }},
      {"/slow",
       [this](const HttpRequest&) {
         std::call_once(first_entered_, [this] { entered_.count_down(); });
         proceed_.wait();
         return HttpResponse{.body = "at last\n"};
       }},
      {"/broken",
       [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("it broke"); }}};
  std::once_flag first_entered_;
  std::latch entered_{1};
  std::latch proceed_{1};
  std::optional<HttpServer> server_;
};

}  // namespace kopp
