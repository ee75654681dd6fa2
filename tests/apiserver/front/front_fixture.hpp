#pragma once

#include "../../framework/raw_client.hpp"
#include "front.hpp"

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
using apiserver::Ask;
using apiserver::Reply;
using testing::RawClient;

/// Patience without end, but where a test says otherwise; so a test that ends shows which bound
/// ended it.
inline testing::ListenOptions Patient() {
  return {.request_timeout = 1h, .idle_timeout = 1h, .write_timeout = 1h};
}

inline std::uint16_t PortOf(const Config& config) {
  const std::string port = config.server.substr(config.server.rfind(':') + 1);
  return static_cast<std::uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
}

inline std::unique_ptr<Transport> Connect(const Config& config) {
  return MakeTransport(config, {.calls = TransportOptions::Calls::kBeast});
}

/// A front on the loopback, before a server that answers as a test says: by default with the path,
/// as text.
class FrontTest : public ::testing::Test, protected apiserver::Answerer {
 protected:
  void Serve() {
    apiserver::Answerer& server = *this;
    front_.emplace(world_, server, uptime_, options_);
  }

  // Which calls Answer, and so goes before this object is no Answerer any more.
  void TearDown() override { front_.reset(); }

  [[nodiscard]] Config config() { return front_->ConfigFor({.name = "tester"}); }
  [[nodiscard]] std::uint16_t port() { return PortOf(config()); }
  RawClient::Answer Get(const std::string& target) { return testing::Get(port(), target); }

  Reply Answer(const Ask& ask) override { return answer_(ask); }

  testing::FakeClock clock_;
  apiserver::World world_{clock_, 1, {.clock = clock_}};
  apiserver::Uptime uptime_{clock_};
  testing::ListenOptions options_ = Patient();
  std::function<Reply(const Ask&)> answer_ = [](const Ask& ask) {
    return Reply{.body = ask.target.path, .content_type = "text/plain"};
  };
  std::optional<apiserver::Front> front_;
};

}  // namespace kopp
