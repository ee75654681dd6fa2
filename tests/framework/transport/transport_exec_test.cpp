#include "support/plugin_script.hpp"
#include "transport_fixture.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

// Tests credential plugins and impersonation. The suite is instantiated in
// transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

// FakeClock starts at this time.
constexpr const char* kInOneMinute = "2001-09-09T01:47:40Z";

ExecConfig ExecOf(const PluginScript& plugin) {
  return {.api_version = "client.authentication.k8s.io/v1", .command = plugin.path().string()};
}

std::unique_ptr<Transport> TransportWithClock(Config config, const RawServer& server,
                                              TransportOptions::Calls calls, Clock& clock) {
  config.server = server.Url();
  return MakeTransport(config, {.calls = calls, .clock = clock});
}

std::vector<std::string> TokensOf(const RawServer& server) {
  std::vector<std::string> tokens;
  for (const auto& request : server.Requests()) {
    tokens.push_back(Header(request.head, "Authorization"));
  }
  return tokens;
}

TEST_P(TransportConformanceTest, PluginRunsBeforeTheFirstRequestAndItsTokenIsCached) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const PluginScript plugin(PrintToken("abc"));
  config_.exec = ExecOf(plugin);
  const auto transport = TransportTo(server);

  EXPECT_EQ(plugin.Runs(), 0);
  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Open({.target = "/"}));

  EXPECT_THAT(TokensOf(server), ElementsAre("Bearer abc", "Bearer abc"));
  EXPECT_EQ(plugin.Runs(), 1);
}

TEST_P(TransportConformanceTest, PluginRunsAgainWhenItsTokenHasExpired) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const PluginScript plugin(PrintToken("first", kInOneMinute));
  FakeClock clock;
  config_.exec = ExecOf(plugin);
  const auto transport = TransportWithClock(config_, server, GetParam(), clock);
  static_cast<void>(transport->Call({.target = "/"}));
  plugin.Replace(PrintToken("second"));

  clock.Advance(59s);
  static_cast<void>(transport->Call({.target = "/"}));
  clock.Advance(1s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_THAT(TokensOf(server), ElementsAre("Bearer first", "Bearer first", "Bearer second"));
}

TEST_P(TransportConformanceTest, ConcurrentCallsShareOneRunOfThePlugin) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const PluginScript plugin("sleep 0.2\n" + PrintToken("abc"));
  config_.exec = ExecOf(plugin);
  const auto transport = TransportTo(server);

  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] { static_cast<void>(transport->Call({.target = "/"})); });
    }
  }

  EXPECT_EQ(plugin.Runs(), 1);
  EXPECT_EQ(server.Requests().size(), 8U);
}

TEST_P(TransportConformanceTest, PluginRunsAgainOnceAfter401) {
  RawServer server({AlwaysRespond(MakeResponse(401, ""))});
  const PluginScript plugin(PrintToken("first"));
  FakeClock clock;
  config_.exec = ExecOf(plugin);
  const auto transport = TransportWithClock(config_, server, GetParam(), clock);
  static_cast<void>(transport->Call({.target = "/"}));
  plugin.Replace(PrintToken("second"));

  for (int i = 0; i < 5; ++i) static_cast<void>(transport->Call({.target = "/"}));
  EXPECT_EQ(plugin.Runs(), 2);
  clock.Advance(10s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(plugin.Runs(), 3);
  EXPECT_EQ(TokensOf(server).at(0), "Bearer first");
  EXPECT_EQ(TokensOf(server).at(1), "Bearer second");
}

TEST_P(TransportConformanceTest, PluginThatFailsRunsAgainAfterTenSecondsOnly) {
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))});
  const PluginScript plugin("echo 'not logged in' >&2; exit 1");
  FakeClock clock;
  config_.exec = ExecOf(plugin);
  const auto transport = TransportWithClock(config_, server, GetParam(), clock);

  for (int i = 0; i < 5; ++i) {
    const auto failure = FailureOfCall(*transport, {.target = "/api"});
    EXPECT_EQ(failure.kind, Kind::kNoCredentials);
    EXPECT_THAT(failure.message,
                StartsWith("GET " + server.Url() + "/api: a test: the credential"));
    EXPECT_THAT(failure.message, HasSubstr("failed with exit code 1: not logged in"));
  }
  EXPECT_EQ(plugin.Runs(), 1);
  plugin.Replace(PrintToken("abc"));
  clock.Advance(10s);

  EXPECT_EQ(transport->Call({.target = "/"}).body, "x");
  EXPECT_EQ(server.Requests().size(), 1U);
}

TEST_P(TransportConformanceTest, RejectedTokenStaysInUseIfThePluginFails) {
  RawServer server({AlwaysRespond(MakeResponse(401, ""))});
  const PluginScript plugin(PrintToken("abc"));
  std::vector<std::string> warnings;
  options_.on_warning = [&](const std::string& problem) { warnings.push_back(problem); };
  config_.exec = ExecOf(plugin);
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));
  plugin.Replace("exit 1");

  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(plugin.Runs(), 2);
  EXPECT_THAT(TokensOf(server), ElementsAre("Bearer abc", "Bearer abc"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("failed with exit code 1")));
}

TEST_P(TransportConformanceTest, StopInterruptsTheWaitForThePlugin) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const PluginScript plugin("sleep 1000");
  config_.exec = ExecOf(plugin);
  const auto transport = TransportTo(server);
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (plugin.Runs() == 0) std::this_thread::yield();
    stop.request_stop();
  });

  EXPECT_EQ(FailureOf([&] {
              static_cast<void>(transport->Call({.target = "/"}, stop.get_token()));
            }).kind,
            Kind::kCancelled);
}

// The destructor of the transport also kills the plugin; otherwise this test would time out.
TEST_P(TransportConformanceTest, CallDoesNotWaitForThePluginBeyondItsTimeout) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const PluginScript plugin("sleep 1000");
  config_.exec = ExecOf(plugin);
  options_.call_timeout = 100ms;

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message, HasSubstr("timed out while waiting for the credential plugin"));
}

TEST_P(TransportConformanceTest, ClientCertificateOfThePluginIsPresented) {
  auto tls = TrustedTls();
  tls.client_authority = authority_.certificate();
  RawServer server({AlwaysRespond(MakeResponse(401, ""))}, tls);
  const auto print_certificate = [&](const std::string& name) {
    const auto own = authority_.Issue({.common_name = name});
    return Print(ExecCredentialJson(
        {{"clientCertificateData", own.certificate}, {"clientKeyData", own.key}}));
  };
  const PluginScript plugin(print_certificate("first"));
  config_.exec = ExecOf(plugin);
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));
  plugin.Replace(print_certificate("second"));

  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).client, "first");
  EXPECT_EQ(server.Requests().at(1).client, "second");
}

TEST_P(TransportConformanceTest, PluginOfAnInvalidConfigurationIsRejected) {
  config_.exec = {.api_version = "client.authentication.k8s.io/v1", .command = "login"};
  config_.token = "abc";

  EXPECT_THROW(static_cast<void>(TransportTo("https://10.0.0.1")), ConfigError);
}

// --- impersonation

TEST_P(TransportConformanceTest, ImpersonationIsSentInHeaders) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  config_.impersonate = {.user = "jane",
                         .uid = "06f6ce97",
                         .groups = {"developers", "auditors"},
                         .extra = {{"example.com/scopes %", {"view", "edit"}}}};
  const auto transport = TransportTo(server);

  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Open({.target = "/"}));

  for (const auto& request : server.Requests()) {
    EXPECT_THAT(request.head,
                HasSubstr("\r\nImpersonate-User: jane\r\nImpersonate-Uid: 06f6ce97\r\n"
                          "Impersonate-Group: developers\r\n"
                          "Impersonate-Group: auditors\r\n"
                          "Impersonate-Extra-example.com%2Fscopes%20%25: view\r\n"
                          "Impersonate-Extra-example.com%2Fscopes%20%25: edit"));
  }
  EXPECT_EQ(server.Requests().size(), 2U);
}

TEST_P(TransportConformanceTest, ImpersonationWithALineBreakIsRejected) {
  config_.impersonate = {.user = "jane", .groups = {"a\r\nImpersonate-Group: system:masters"}};

  EXPECT_THROW(static_cast<void>(TransportTo("https://10.0.0.1")), ConfigError);
}

}  // namespace
}  // namespace kopp::testing
