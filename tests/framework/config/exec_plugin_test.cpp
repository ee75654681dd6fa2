#include "config/exec_plugin.hpp"

#include "support/certificates.hpp"
#include "support/hang_timeout.hpp"
#include "support/plugin_script.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace kopp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
using detail::ExecCredential;
using detail::RunExecPlugin;
using nlohmann::json;

constexpr WallTime kNow{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

Config ConfigOf(const PluginScript& plugin) {
  Config config{.server = "https://10.0.0.1:6443", .source = "a test"};
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = plugin.path().string()};
  return config;
}

// Returns the message of the ConfigError, in which PLUGIN replaces the quoted path of the plugin.
std::string ErrorOfPlugin(const Config& config, Duration time_limit = kHangTimeout) {
  try {
    static_cast<void>(RunExecPlugin(config, kNow, {}, time_limit));
  } catch (const ConfigError& error) {
    std::string what = error.what();
    const std::string path = '"' + config.exec.command + '"';
    if (what.find(path) != std::string::npos) what.replace(what.find(path), path.size(), "PLUGIN");
    return what;
  }
  return "RunExecPlugin did not throw";
}

std::string ErrorOfPluginScript(const std::string& body) {
  return ErrorOfPlugin(ConfigOf(PluginScript(body)));
}

TEST(ExecPluginTest, TokenAndExpirationAreReturned) {
  const PluginScript plugin(PrintToken("abc", "2026-01-01T01:00:00Z"));

  const ExecCredential credential = RunExecPlugin(ConfigOf(plugin), kNow, {});

  EXPECT_EQ(credential.token, "abc");
  EXPECT_EQ(credential.expires, kNow + 1h);
}

TEST(ExecPluginTest, CredentialWithoutExpirationNeverExpires) {
  EXPECT_EQ(RunExecPlugin(ConfigOf(PluginScript(PrintToken("abc"))), kNow, {}).expires,
            std::nullopt);
}

// Years after 2262 cannot be represented by WallTime.
TEST(ExecPluginTest, CredentialThatExpiresInTheYear9999IsAccepted) {
  const PluginScript plugin(PrintToken("abc", "9999-12-31T23:59:59Z"));

  const ExecCredential credential = RunExecPlugin(ConfigOf(plugin), kNow, {});

  EXPECT_EQ(credential.token, "abc");
  EXPECT_GT(credential.expires, kNow + 24h * 365 * 200);
}

TEST(ExecPluginTest, CredentialThatHasExpiredIsUsedFor10Seconds) {
  for (const char* expired : {"0001-01-01T00:00:00Z", "2026-01-01T00:00:00Z"}) {
    const ExecCredential credential =
        RunExecPlugin(ConfigOf(PluginScript(PrintToken("abc", expired))), kNow, {});

    EXPECT_EQ(credential.token, "abc");
    EXPECT_EQ(credential.expires, kNow + 10s);
  }
}

TEST(ExecPluginTest, OutputMayBeYaml) {
  const PluginScript plugin(
      Print("# a comment\nkind: ExecCredential\n"
            "apiVersion: client.authentication.k8s.io/v1\n"
            "status: {token: abc, expirationTimestamp: "
            "\"2026-01-01T01:00:00Z\"}\n"));

  const ExecCredential credential = RunExecPlugin(ConfigOf(plugin), kNow, {});

  EXPECT_EQ(credential.token, "abc");
  EXPECT_EQ(credential.expires, kNow + 1h);
}

TEST(ExecPluginTest, OutputMayBeginWithAByteOrderMarkAndBlanks) {
  const std::string output = ExecCredentialJson({{"token", "abc"}});
  const PluginScript plugin(Print("\xEF\xBB\xBF\n " + output));

  EXPECT_EQ(RunExecPlugin(ConfigOf(plugin), kNow, {}).token, "abc");
}

TEST(ExecPluginTest, AnErrorAboutYamlContainsNothingOfTheOutput) {
  EXPECT_THAT(ErrorOfPluginScript(Print("token: canary\n  canary: [")),
              AllOf(HasSubstr("did not return an ExecCredential"), Not(HasSubstr("canary"))));
}

TEST(ExecPluginTest, ClientCertificateAndKeyAreReturned) {
  const auto own = CertificateAuthority().Issue({.common_name = "jane"});
  const PluginScript plugin(Print(ExecCredentialJson(
      {{"clientCertificateData", own.certificate}, {"clientKeyData", own.key}})));

  const ExecCredential credential = RunExecPlugin(ConfigOf(plugin), kNow, {});

  EXPECT_EQ(credential.client_certificate, own.certificate);
  EXPECT_EQ(credential.client_key, own.key);
  EXPECT_TRUE(credential.token.empty());
}

TEST(ExecPluginTest, ResponseOfV1Beta1IsAccepted) {
  Config config{.source = "a test"};
  config.exec = {.api_version = "client.authentication.k8s.io/v1beta1",
                 .command = "sh",  // looked up in $PATH
                 .args = {"-c", "printf '%s' \"$RESPONSE\""},
                 .env = {{"RESPONSE", R"({"apiVersion": "client.authentication.k8s.io/v1beta1",
                                          "kind": "ExecCredential", "spec": {},
                                          "status": {"token": "abc"}})"}}};

  EXPECT_EQ(RunExecPlugin(config, kNow, {}).token, "abc");
}

TEST(ExecPluginTest, ArgumentsAndVariablesArePassed) {
  const PluginScript plugin("echo \"$1,$2,$KOPP_TEST\" > \"$(dirname \"$0\")/seen\"\n" +
                            PrintToken("abc"));
  Config config = ConfigOf(plugin);
  config.exec.args = {"get-token", "two words"};
  config.exec.env = {{"KOPP_TEST", "set"}};

  static_cast<void>(RunExecPlugin(config, kNow, {}));

  EXPECT_EQ(plugin.folder().Read("seen"), "get-token,two words,set\n");
}

// Returns the JSON in $KUBERNETES_EXEC_INFO.
json ExecInfoOf(const Config& base, bool provide_cluster_info) {
  const PluginScript plugin("printf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$(dirname \"$0\")/seen\"\n" +
                            PrintToken("abc"));
  Config config = base;
  config.source = "a test";
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = plugin.path().string(),
                 .provide_cluster_info = provide_cluster_info};
  static_cast<void>(RunExecPlugin(config, kNow, {}));
  return json::parse(plugin.folder().Read("seen"));
}

TEST(ExecPluginTest, ExecInfoSaysThatThereIsNoTerminal) {
  EXPECT_EQ(ExecInfoOf({.server = "https://10.0.0.1"}, false),
            json::parse(R"({"apiVersion": "client.authentication.k8s.io/v1",
                            "kind": "ExecCredential", "spec": {"interactive": false}})"));
}

TEST(ExecPluginTest, ExecInfoHasTheClusterIfRequested) {
  const Config config{.server = "https://10.0.0.1",
                      .certificate_authority = "PEM",
                      .tls_server_name = "kubernetes",
                      .proxy_url = "http://proxy:3128"};

  EXPECT_EQ(ExecInfoOf(config, true).at("spec").at("cluster"),
            json::parse(R"({"server": "https://10.0.0.1", "tls-server-name": "kubernetes",
                            "insecure-skip-tls-verify": false,
                            "certificate-authority-data": "UEVN",
                            "proxy-url": "http://proxy:3128"})"));
}

TEST(ExecPluginTest, MissingPluginIsReportedWithItsInstallHint) {
  Config config{.source = "a test"};
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = "kopp-no-such-plugin",
                 .install_hint = "Install it\n  from https://example.com\n"};

  EXPECT_EQ(ErrorOfPlugin(config),
            "a test: the credential plugin PLUGIN does not exist; Install it from "
            "https://example.com");
}

TEST(ExecPluginTest, PluginThatIsNotExecutableIsReported) {
  const ScratchFolder folder;
  Config config{.source = "a test"};
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = folder.Write("plugin", "").string()};

  EXPECT_EQ(ErrorOfPlugin(config),
            "a test: the credential plugin PLUGIN cannot be run: Permission denied; install it, or "
            "correct the command of users[].user.exec");
}

TEST(ExecPluginTest, EnvironmentThatIsTooLargeIsReported) {
  const PluginScript plugin(PrintToken("abc"));
  Config config = ConfigOf(plugin);
  config.certificate_authority = std::string(200 << 10, 'x');
  config.exec.provide_cluster_info = true;

  EXPECT_EQ(ErrorOfPlugin(config),
            "a test: the credential plugin PLUGIN cannot be run: Argument list too long; set "
            "provideClusterInfo to false, or use a smaller certificate-authority");
}

TEST(ExecPluginTest, LackOfFileDescriptorsIsReported) {
  const Config config = ConfigOf(PluginScript(PrintToken("abc")));
  rlimit previous{};
  ::getrlimit(RLIMIT_NOFILE, &previous);
  const rlimit none{.rlim_cur = 0, .rlim_max = previous.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);

  const std::string error = ErrorOfPlugin(config);

  ::setrlimit(RLIMIT_NOFILE, &previous);
  EXPECT_EQ(error,
            "a test: the credential plugin PLUGIN cannot be run: Too many open files; raise the "
            "limits of this process");
}

TEST(ExecPluginTest, FailureIsReportedWithStandardErrorInOneLine) {
  EXPECT_EQ(ErrorOfPluginScript("printf '\\nUnable to locate\\n  credentials\\n' >&2; exit 255"),
            "a test: the credential plugin PLUGIN failed with exit code 255: Unable to locate "
            "credentials; run the command of users[].user.exec in a shell to find the cause");
}

TEST(ExecPluginTest, PluginThatHangsIsReported) {
  EXPECT_THAT(ErrorOfPlugin(ConfigOf(PluginScript("sleep 1000")), 200ms),
              HasSubstr("PLUGIN was killed because it did not end within 1 s"));
}

TEST(ExecPluginTest, PluginThatWritesTooMuchIsReported) {
  EXPECT_THAT(ErrorOfPluginScript("exec cat /dev/zero"),
              HasSubstr("PLUGIN was killed because it wrote more than 1 MiB"));
}

TEST(ExecPluginTest, PluginThatIsKilledBySignalIsReported) {
  EXPECT_THAT(ErrorOfPluginScript("kill -KILL $$"), HasSubstr("PLUGIN was killed by signal 9"));
}

struct InvalidOutput {
  const char* name = "";
  std::string output{};
  std::string problem{};
};

class InvalidExecOutputTest : public ::testing::TestWithParam<InvalidOutput> {};

TEST_P(InvalidExecOutputTest, IsReportedWithoutTheOutput) {
  const std::string error = ErrorOfPluginScript(Print(GetParam().output));

  EXPECT_THAT(error, HasSubstr(GetParam().problem));
  EXPECT_THAT(error, Not(HasSubstr("canary")));
}

constexpr const char* kNotValid =
    "did not return an ExecCredential of client.authentication.k8s.io/v1: its output is not valid, "
    "or has other text around the credential; run the command of users[].user.exec in a shell to "
    "see its output";

INSTANTIATE_TEST_SUITE_P(
    , InvalidExecOutputTest,
    ::testing::Values(
        InvalidOutput{"Empty", " \n",
                      "of client.authentication.k8s.io/v1: it printed nothing; run"},
        InvalidOutput{"AnHtmlPage", "<!doctype html>canary", ": it printed an HTML page; run"},
        InvalidOutput{"NotJson", "token: canary", kNotValid},
        InvalidOutput{"TextBeforeTheCredential",
                      "canary\n" + ExecCredentialJson({{"token", "canary"}}), kNotValid},
        InvalidOutput{"OtherKind",
                      R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "canary"})",
                      ": it printed another kind of object; run"},
        InvalidOutput{"UnknownVersion", R"({"apiVersion": "canary", "kind": "ExecCredential"})",
                      ": it printed another kind of object; run"},
        InvalidOutput{"TokenThatIsAList", ExecCredentialJson({{"token", {"canary"}}}), kNotValid},
        InvalidOutput{"OtherVersion",
                      R"({"apiVersion": "client.authentication.k8s.io/v1beta1",
                          "kind": "ExecCredential", "status": {"token": "canary"}})",
                      "of client.authentication.k8s.io/v1: it returned one of "
                      "client.authentication.k8s.io/v1beta1; correct apiVersion in "
                      "users[].user.exec, or update the plugin"},
        InvalidOutput{"NoCredential", ExecCredentialJson({{"expirationTimestamp", nullptr}}),
                      "returned no usable credential: it needs a token, or a client certificate"},
        InvalidOutput{"CertificateWithoutKey",
                      ExecCredentialJson({{"token", "canary"}, {"clientCertificateData", "x"}}),
                      "returned no usable credential: it needs a token, or a client certificate"},
        InvalidOutput{
            "KeyThatIsNotPem",
            ExecCredentialJson({{"clientCertificateData", "canary"}, {"clientKeyData", "canary"}}),
            "clientCertificateData: not a PEM certificate"},
        InvalidOutput{"TokenWithALineBreak", ExecCredentialJson({{"token", "canary\r\nX: y"}}),
                      "the token contains characters that are not allowed in a token"},
        InvalidOutput{"InvalidExpiration",
                      ExecCredentialJson({{"token", "canary"}, {"expirationTimestamp", "soon"}}),
                      "returned a credential with an invalid expiration time \"soon\""}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::testing
