#pragma once

#include "support/hang_timeout.hpp"
#include "support/raw_server.hpp"
#include "support/transport_adapters.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <kopp/transport.hpp>

namespace kopp {

inline void PrintTo(TransportError::Kind kind, std::ostream* out) {
  constexpr const char* kNames[] = {"unreachable", "untrusted",      "timeout",
                                    "broken",      "malformed",      "too large",
                                    "cancelled",   "no credentials", "forbidden by proxy"};
  *out << kNames[static_cast<int>(kind)];
}

}  // namespace kopp

namespace kopp::testing {

using Kind = TransportError::Kind;

/// The TransportError of a call or a read. `kind` is empty if it did not fail.
struct Failure {
  std::optional<Kind> kind{};
  std::string message{};
};

/// Runs `function` and returns the TransportError that it throws.
template <class F>
Failure FailureOf(F&& function) {
  try {
    std::forward<F>(function)();
  } catch (const TransportError& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

inline Failure FailureOfCall(Transport& transport, const ApiRequest& request) {
  return FailureOf([&] { static_cast<void>(transport.Call(request)); });
}

/// Returns the value of header `name` in a request head, or "none" if it is missing.
inline std::string Header(const std::string& head, const std::string& name) {
  const std::string begin = "\r\n" + name + ":";
  const auto position = head.find(begin);
  if (position == std::string::npos) return "none";
  const auto value = head.find_first_not_of(' ', position + begin.size());
  return head.substr(value, head.find("\r\n", value) - value);
}

/// Returns `text` repeated a thousand times, for example to fill a buffer.
inline std::string ThousandTimes(const std::string& text) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += text;
  return all;
}

/// A clock that a test advances. It only tells the time and cannot wait.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  [[nodiscard]] WallTime WallNow() const override { return {}; }
  void WaitUntil(std::unique_lock<std::mutex>&, std::condition_variable&, TimePoint) override {
    throw std::logic_error("a transport must not wait on this clock");
  }
  void Advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{std::chrono::hours(1)};
};

/// A timeout that a test lets expire, if some work must succeed before that.
inline constexpr Duration kTimeoutAfterWork = std::chrono::seconds(2);

/// The conformance suite for transport adapters. Each test runs once per adapter; the adapter is
/// the suffix of the test name.
class TransportConformanceTest : public ::testing::TestWithParam<TransportOptions::Calls> {
 protected:
  TransportConformanceTest() {
    config_.source = "a test";
    options_.calls = GetParam();
    options_.call_timeout = kHangTimeout;
  }

  /// Returns a transport to `url` with `config_` and `options_`, which a test may change before.
  std::unique_ptr<Transport> TransportTo(const std::string& url) {
    config_.server = url;
    return MakeTransport(config_, options_);
  }
  std::unique_ptr<Transport> TransportTo(const RawServer& server) {
    return TransportTo(server.Url());
  }

  /// Returns the TLS options of a server with a loopback certificate, and makes `config_` trust it.
  RawServer::Tls TrustedTls() {
    config_.certificate_authority = authority_.certificate();
    return {.identity = authority_.IssueForLoopback()};
  }

  bool UsesCpprest() const { return GetParam() == TransportOptions::Calls::kCppRest; }

  CertificateAuthority authority_;
  Config config_;
  TransportOptions options_;
};

}  // namespace kopp::testing
