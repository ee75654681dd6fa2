#pragma once

#include "raw_client.hpp"

#include <cstddef>
#include <latch>
#include <memory>
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

inline constexpr std::size_t kLarge = 32 << 20;  // more than any socket's buffers take

/// A server on the loopback whose patience is endless, but where a test says otherwise; so a test
/// that ends shows which bound ended it.
///
/// It serves /page, /echo (the query), /large, /slow (waits for Proceed) and /broken (throws).
class HttpServerTest : public ::testing::Test {
 protected:
  ~HttpServerTest() override { Proceed(); }

  HttpServer& Serve() {
    server_.emplace(
        options_,
        HttpServer::Handlers{
            {"/page", [](std::string_view) { return HttpAnswer{.body = "hello\n"}; }},
            {"/echo",
             [](std::string_view query) {
               return HttpAnswer{.body = std::string(query), .content_type = "a/b"};
             }},
            {"/large",
             [](std::string_view) { return HttpAnswer{.body = std::string(kLarge, 'x')}; }},
            {"/slow",
             [this](std::string_view) {
               entered_.count_down();
               proceed_.wait();
               return HttpAnswer{.body = "at last\n"};
             }},
            {"/broken",
             [](std::string_view) -> HttpAnswer { throw std::runtime_error("it broke"); }}});
    return *server_;
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

  /// A client whose request for /slow is being handled.
  std::unique_ptr<RawClient> SlowClient() {
    auto client = std::make_unique<RawClient>(port());
    client->SendGet("/slow");
    entered_.wait();
    return client;
  }
  void Proceed() {
    if (!proceed_.try_wait()) proceed_.count_down();
  }

  HttpServerOptions options_{
      .address = "127.0.0.1:0", .request_timeout = 1h, .idle_timeout = 1h, .write_timeout = 1h};
  std::latch entered_{1};
  std::latch proceed_{1};
  std::optional<HttpServer> server_;
};

}  // namespace kopp
