#pragma once

#include "raw_server.hpp"

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
  constexpr const char* kNames[] = {"unreachable", "untrusted", "timeout",  "broken",
                                    "malformed",   "too large", "cancelled"};
  *out << kNames[static_cast<int>(kind)];
}

}  // namespace kopp

namespace kopp::testing {

using Kind = TransportError::Kind;

/// How a call or a read failed; `kind` is empty when it did not.
struct Failure {
  std::optional<Kind> kind{};
  std::string what{};
};

template <class F>
Failure FailureOf(F&& act) {
  try {
    std::forward<F>(act)();
  } catch (const TransportError& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

inline Failure FailureOfCall(Transport& transport, const Request& request) {
  return FailureOf([&] { static_cast<void>(transport.Call(request)); });
}

/// The value of a header in the head of a request; "none" without it.
inline std::string Header(const std::string& head, const std::string& name) {
  const std::string begin = "\r\n" + name + ":";
  const auto at = head.find(begin);
  if (at == std::string::npos) return "none";
  const auto value = head.find_first_not_of(' ', at + begin.size());
  return head.substr(value, head.find("\r\n", value) - value);
}

/// So often that it fills a buffer: `text` a thousand times.
inline std::string Many(const std::string& text) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += text;
  return all;
}

/// What tells the time, for what happens once in a minute.
class HandSetClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  [[nodiscard]] WallTime WallNow() const override { return {}; }
  void WaitUntil(std::unique_lock<std::mutex>&, std::condition_variable&, TimePoint) override {
    throw std::logic_error("a transport waits for sockets, not by this clock");
  }
  void Advance(Duration by) { now_ += by; }

 private:
  TimePoint now_{std::chrono::hours(1)};
};

/// What every adapter must do alike; the name of the adapter is the end of a test's name.
class TransportConformanceTest : public ::testing::TestWithParam<TransportOptions::Calls> {
 protected:
  TransportConformanceTest() {
    config_.source = "a test";
    options_.calls = GetParam();
    options_.call_timeout = std::chrono::seconds(10);
  }

  /// To `server`, under `config_` and `options_`, which the test may have changed.
  std::unique_ptr<Transport> To(const std::string& url) {
    config_.server = url;
    return MakeTransport(config_, options_);
  }
  std::unique_ptr<Transport> To(const RawServer& server) { return To(server.Url()); }

  /// Has `server` trusted, and its certificate be one for loopback.
  RawServer::Tls TrustedTls() {
    config_.certificate_authority = authority_.certificate();
    return {.identity = authority_.IssueForLoopback()};
  }

  bool ByCppRest() const { return GetParam() == TransportOptions::Calls::kCppRest; }

  Authority authority_;
  Config config_;
  TransportOptions options_;
};

}  // namespace kopp::testing
