#include "framework/config/config_fixture.hpp"
#include "support/plugin_script.hpp"
#include "support/raw_server.hpp"

#include <cstdlib>
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
constexpr const char* kServerBehindProxy = "https://api.invalid:6443";

// A part of the key that starts at a multiple of 3 bytes, so that a Base64 form of the key contains
// the Base64 form of the part.
std::string PartOfTestKey() { return TestIdentity().key.substr(39, 21); }

// Checks that `output` contains neither `canary` nor its Base64 form. The size of `canary` is a
// multiple of 3.
void ExpectNoCanary(const std::string& output, const std::string& canary) {
  EXPECT_THAT(output, Not(HasSubstr(canary)));
  EXPECT_THAT(output, Not(HasSubstr(Base64(canary))));
}

class CredentialLeakTest : public ConfigFixture {
 protected:
  // Runs a manager that logs everything, with `kubeconfig`, until it fails to start. Returns
  // everything that it has written.
  std::string OutputOfManager(const std::string& kubeconfig) {
    const auto file = Write("config", kubeconfig);
    std::string log;
    std::mutex mutex;
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Options options{.kubeconfig = file.string(), .reject_unwatched_reads = false};
    options.retry.max_tries = 2;
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
      const std::string output = OutputOfManager(KubeconfigBuilder()
                                                     .Server(server.Url())
                                                     .ClusterField("certificate-authority: ca.crt")
                                                     .UserField(user));
      EXPECT_THAT(output, HasSubstr("Cannot start"));
      ExpectNoCanary(output, canary);
      EXPECT_GE(server.Requests().size(), 1U) << "the credential was not used: " << output;
    }
  }

  // Checks the output of managers whose CONNECT request gets each of several bad responses. The
  // proxy is the one of `cluster`, in which PROXY stands for its host and port, or $HTTPS_PROXY.
  void ExpectNoLeakThroughProxy(const std::string& cluster) {
    const std::vector<Script> scripts{
        {ReadRequest(), Send(MakeResponse(407, "")), Close()},
        {ReadRequest(), Send(MakeResponse(502, "")), Close()},
        {ReadRequest(), Send("no HTTP\r\n\r\n"), Close()},
        {ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\n"), CloseAbruptly()},
        {ReadRequest(), CloseAbruptly()}};
    for (const Script& script : scripts) {
      RawServer proxy({script});
      const std::string address = "canary:canary@127.0.0.1:" + std::to_string(proxy.port());
      ::setenv("HTTPS_PROXY", address.c_str(), 1);
      std::string field = cluster;
      if (const auto at = field.find("PROXY"); at != std::string::npos)
        field.replace(at, 5, address);
      const std::string output =
          OutputOfManager(KubeconfigBuilder().Server(kServerBehindProxy).ClusterField(field));
      ::unsetenv("HTTPS_PROXY");
      EXPECT_THAT(output, HasSubstr("through the proxy http://127.0.0.1:"));
      ExpectNoCanary(output, kCanary);
      ASSERT_GE(proxy.Requests().size(), 1U);
      EXPECT_THAT(proxy.Requests().at(0).head, HasSubstr(Base64("canary:canary")));
    }
  }
};

TEST_F(CredentialLeakTest, RejectedConfigurationsDoNotShowCredentials) {
  Write("canary-free-file", "canary\r\nX: canary");
  for (const std::string user :
       {"token: \"canary\\ncanary\"",
        "tokenFile: canary-free-file",
        "client-key: canary-free-file",
        "client-key-data: canary",
        "client-key-data: Y2FuYXJ5",
        "password: canary",
        "username: canary",
        "auth-provider: {config: {id-token: canary}}",
        "token: [canary]",
        "exec: {apiVersion: v0, command: x, args: [canary], env: [{name: A, value: canary}]}",
        "exec: {command: x, env: [{name: '', value: canary}]}",
        "token: \"canary",
        "token: *canary",
        "token: &a *canary",
        "token: !canary !canary a",
        "token: !<canary",
        "token: canary: canary",
        "token: @canary",
        "token: {canary, canary}",
        "token: [{canary: a, canary: b}]",
        "token: |canary",
        "token: \"canary\\q\"",
        "client-key: -----BEGIN PRIVATE KEY----- canary",
        "client-key: \"-----BEGIN\\ncanary\"",
        "client-key-data: -----BEGIN PRIVATE KEY----- canary"}) {
    const std::string error = LoadErrorOfText(KubeconfigBuilder().UserField(user));
    EXPECT_THAT(error, HasSubstr("kubeconfig")) << user;
    EXPECT_THAT(error, Not(::testing::ContainsRegex("canary($|[^-])"))) << user;
    EXPECT_THAT(error, Not(HasSubstr(Base64(kCanary)))) << user;
  }
}

TEST_F(CredentialLeakTest, RejectedProxiesDoNotShowCredentials) {
  for (const std::string url :
       {"https://canary:canary@", "socks5://canary:canary@", "canary:canary@proxy",
        "http://canary:canary@", "http://canary:canary/canary@proxy", "http://can%ary:canary@proxy",
        "http://canary:canary@proxy:port"}) {
    const std::string error =
        LoadErrorOfText(KubeconfigBuilder().ClusterField("proxy-url: " + url));
    EXPECT_THAT(error, HasSubstr("proxy-url")) << url;
    ExpectNoCanary(error, kCanary);
  }
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowPasswordOfProxyUrl) {
  ExpectNoLeakThroughProxy("proxy-url: http://PROXY");
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowPasswordOfHttpsProxyVariable) {
  ExpectNoLeakThroughProxy("insecure-skip-tls-verify: false");
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowToken) { ExpectNoLeak("token: canary", kCanary); }

TEST_F(CredentialLeakTest, ManagerDoesNotShowTokenOfFile) {
  Write("token", kCanary);

  ExpectNoLeak("tokenFile: token", kCanary);
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowClientKey) {
  Write("tls.crt", TestIdentity().certificate);
  Write("tls.key", TestIdentity().key);

  ExpectNoLeak("client-certificate: tls.crt\n    client-key: tls.key", PartOfTestKey());
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowClientKeyData) {
  ExpectNoLeak("client-certificate-data: " + Base64(TestIdentity().certificate) +
                   "\n    client-key-data: " + Base64(TestIdentity().key),
               PartOfTestKey());
}

TEST_F(CredentialLeakTest, ManagerDoesNotShowClientKeyOfPlugin) {
  const PluginScript plugin(
      Print(ExecCredentialJson({{"clientCertificateData", TestIdentity().certificate},
                                {"clientKeyData", TestIdentity().key}})));

  ExpectNoLeak(
      "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: " +
          plugin.path().string() + "}",
      PartOfTestKey());
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
      KubeconfigBuilder()
          .Server(server.Url())
          .ClusterField("certificate-authority: ca.crt")
          .UserField("exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
                     "args: [canary], command: " +
                     plugin.path().string() + "}"));

  EXPECT_THAT(output, HasSubstr("failed with exit code 1"));
  ExpectNoCanary(output, kCanary);
}

}  // namespace
}  // namespace kopp::testing
