#include "framework/config/config_fixture.hpp"
#include "support/plugin_script.hpp"
#include "support/raw_server.hpp"

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/kinds.hpp>
#include <kopp/log.hpp>
#include <kopp/manager.hpp>

// Plants a canary in every credential and checks that no message contains one.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCanary = "canary";

class CredentialLeakTest : public ConfigFixture {
 protected:
  // Runs a manager that logs everything, with `user` in its kubeconfig, until it fails to start.
  // Returns everything that it has written.
  std::string OutputOfManager(const std::string& user, const RawServer& server) {
    const auto file = Write("config", KubeconfigBuilder()
                                          .Server(server.Url())
                                          .ClusterField("certificate-authority: ca.crt")
                                          .UserField(user));
    std::string log;
    std::mutex mutex;
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Options options{.kubeconfig = file.string()};
    options.log = Logger({.verbosity = 10, .write = [&](std::string_view line) {
                            const std::lock_guard lock(mutex);
                            log += line;
                          }});
    Manager manager(std::move(options));
    manager.AddController<Deployment>().Reconcile(
        [](const Deployment&, Context&) { return Result{}; });
    EXPECT_EQ(manager.Run({}), 1);
    return log + ::testing::internal::GetCapturedStdout() +
           ::testing::internal::GetCapturedStderr();
  }

  // Checks the output of managers whose first request gets each of several bad responses.
  void ExpectNoLeak(const std::string& user, const std::string& canary) {
    const CertificateAuthority authority;
    Write("ca.crt", authority.certificate());
    const std::vector<Script> scripts{AlwaysRespond(MakeResponse(401, "")),
                                      AlwaysRespond(MakeResponse(403, "{}")),
                                      {ReadRequest(), Send("no HTTP\r\n\r\n"), Close()},
                                      {ReadRequest(), CloseAbruptly()}};
    for (const Script& script : scripts) {
      RawServer server({script}, RawServer::Tls{.identity = authority.IssueForLoopback()});
      const std::string output = OutputOfManager(user, server);
      EXPECT_THAT(output, HasSubstr("Cannot start"));
      EXPECT_THAT(output, Not(HasSubstr(canary)));
      EXPECT_GE(server.Requests().size(), 1U) << "the credential was not used: " << output;
    }
  }
};

TEST_F(CredentialLeakTest, RejectedConfigurationsDoNotShowCredentials) {
  Write("canary-free-file", "canary\r\nX: canary");
  for (const std::string user :
       {"token: \"canary\\ncanary\"", "tokenFile: canary-free-file", "client-key: canary-free-file",
        "client-key-data: canary", "client-key-data: Y2FuYXJ5", "password: canary",
        "username: canary", "auth-provider: {config: {id-token: canary}}", "token: [canary]",
        "exec: {apiVersion: v0, command: x, args: [canary], env: [{name: A, value: canary}]}",
        "exec: {command: x, env: [{name: '', value: canary}]}", "token: \"canary",
        "token: *canary"}) {
    const std::string error = LoadErrorOfText(KubeconfigBuilder().UserField(user));
    EXPECT_THAT(error, HasSubstr("kubeconfig")) << user;
    EXPECT_THAT(error, Not(::testing::ContainsRegex("canary($|[^-])"))) << user;
  }
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowToken) { ExpectNoLeak("token: canary", kCanary); }

TEST_F(CredentialLeakTest, ManagerDoesNotShowTokenOfFile) {
  Write("token", kCanary);

  ExpectNoLeak("tokenFile: token", kCanary);
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowClientKey) {
  Write("tls.crt", TestIdentity().certificate);
  Write("tls.key", TestIdentity().key);

  ExpectNoLeak("client-certificate: tls.crt\n    client-key: tls.key",
               TestIdentity().key.substr(40, 20));
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowTokenOfPlugin) {
  const PluginScript plugin(PrintToken(kCanary));

  ExpectNoLeak(
      "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
      "args: [canary], env: [{name: A, value: canary}], command: " +
          plugin.path().string() + "}",
      kCanary);
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowOutputOfPluginThatFails) {
  const PluginScript plugin("echo canary; exit 1");
  const CertificateAuthority authority;
  Write("ca.crt", authority.certificate());
  const RawServer server({AlwaysRespond(MakeResponse(200, ""))},
                         RawServer::Tls{.identity = authority.IssueForLoopback()});

  const std::string output = OutputOfManager(
      "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, args: [canary], "
      "command: " +
          plugin.path().string() + "}",
      server);

  EXPECT_THAT(output, HasSubstr("failed with exit code 1"));
  EXPECT_THAT(output, Not(HasSubstr(kCanary)));
}

}  // namespace
}  // namespace kopp::testing
