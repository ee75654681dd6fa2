#include "manager/options_fixture.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/options.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(OptionsTest, WithoutFlagsOptionsHaveDefaultsAndTheNameOfTheProgram) {
  const Options options = Parsed({});

  EXPECT_EQ(options.name, "web-operator");
  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.watch_namespace, "");
  EXPECT_EQ(options.http_transport, TransportOptions::Calls::kBeast);
  EXPECT_EQ(options.kube_api_qps, 0);
  EXPECT_EQ(options.kube_api_burst, 0);
  EXPECT_EQ(options.metrics.bind_address, "0");
  EXPECT_EQ(options.graceful_shutdown_timeout, Options{}.graceful_shutdown_timeout);
  EXPECT_TRUE(options.log.V(0).Enabled());
  EXPECT_FALSE(options.log.V(1).Enabled());
}

TEST(OptionsTest, TheNameIsKoppIfArgvIsEmpty) {
  EXPECT_EQ(std::get<Options>(ParseCommandLine(0, nullptr)).name, "kopp");
}

TEST(OptionsTest, EachFlagSetsItsOption) {
  const Options options =
      Parsed({"--kubeconfig=/k", "--context=dev", "--master=https://m", "--namespace=web",
              "--http-transport=cpprestsdk", "--kube-api-qps=2.5", "--kube-api-burst=40",
              "--metrics-bind-address=:8080", "--graceful-shutdown-timeout=1m30s", "--v=4"});

  EXPECT_EQ(options.kubeconfig, "/k");
  EXPECT_EQ(options.context, "dev");
  EXPECT_EQ(options.master, "https://m");
  EXPECT_EQ(options.watch_namespace, "web");
  EXPECT_EQ(options.http_transport, TransportOptions::Calls::kCppRest);
  EXPECT_EQ(options.kube_api_qps, 2.5);
  EXPECT_EQ(options.kube_api_burst, 40);
  EXPECT_EQ(options.metrics.bind_address, ":8080");
  EXPECT_EQ(options.graceful_shutdown_timeout, 90s);
  EXPECT_TRUE(options.log.V(4).Enabled());
  EXPECT_FALSE(options.log.V(5).Enabled());
}

TEST(OptionsTest, EachFlagForControllersAndLeaderElectionSetsItsOption) {
  const Options options =
      Parsed({"--max-concurrent-reconciles=4", "--kind-concurrency=Foo.example.com=8,Pod=2",
              "--kind-concurrency=Bar.example.com=1", "--sync-period=1h", "--leader-elect",
              "--leader-election-id=web", "--leader-election-namespace=system",
              "--leader-election-lease-duration=30s", "--leader-election-renew-deadline=20s",
              "--leader-election-retry-period=4s", "--leader-election-release-on-cancel=false"});

  EXPECT_EQ(options.max_concurrent_reconciles, 4);
  const std::map<std::string, int> kinds{
      {"Foo.example.com", 8}, {"Pod", 2}, {"Bar.example.com", 1}};
  EXPECT_EQ(options.kind_concurrency, kinds);
  EXPECT_EQ(options.sync_period, 1h);
  EXPECT_TRUE(options.leader_election.enabled);
  EXPECT_EQ(options.leader_election.id, "web");
  EXPECT_EQ(options.leader_election.ns, "system");
  EXPECT_EQ(options.leader_election.lease_duration, 30s);
  EXPECT_EQ(options.leader_election.renew_deadline, 20s);
  EXPECT_EQ(options.leader_election.retry_period, 4s);
  EXPECT_FALSE(options.leader_election.release_on_cancel);
}

TEST(OptionsTest, EachFlagForEndpointsSetsItsOption) {
  const Options options =
      Parsed({"--metrics-secure=false", "--metrics-cert-path=/c", "--metrics-cert-name=a.crt",
              "--metrics-cert-key=a.key", "--health-probe-bind-address=:8081",
              "--debug-bind-address=127.0.0.1:8082", "--record=/tmp/r.jsonl"});

  EXPECT_FALSE(options.metrics.secure);
  EXPECT_EQ(options.metrics.cert_path, "/c");
  EXPECT_EQ(options.record, "/tmp/r.jsonl");
  EXPECT_EQ(options.metrics.cert_name, "a.crt");
  EXPECT_EQ(options.metrics.cert_key, "a.key");
  EXPECT_EQ(options.health.bind_address, ":8081");
  EXPECT_EQ(options.debug.bind_address, "127.0.0.1:8082");
}

TEST(OptionsTest, EachFlagForWebhooksSetsItsOption) {
  const Options options = Parsed(
      {"--webhook-port=9444", "--webhook-cert-path=/c", "--webhook-cert-name=a.crt",
       "--webhook-cert-key=a.key", "--webhook-client-ca-name=ca.crt",
       "--webhook-service=shop/webhooks", "--webhook-cert-manager", "--webhook-shutdown-delay=3s"});

  EXPECT_EQ(options.webhook.port, 9444);
  EXPECT_EQ(options.webhook.cert_path, "/c");
  EXPECT_EQ(options.webhook.cert_name, "a.crt");
  EXPECT_EQ(options.webhook.cert_key, "a.key");
  EXPECT_EQ(options.webhook.client_ca_name, "ca.crt");
  EXPECT_EQ(options.webhook.service, "shop/webhooks");
  EXPECT_TRUE(options.webhook.cert_manager);
  EXPECT_EQ(options.webhook.shutdown_delay, 3s);
  EXPECT_EQ(Parsed({"--webhook-port=-1"}).webhook.port, -1);
}

TEST(OptionsTest, InvalidValuesOfFlagsForWebhooksAreRejected) {
  for (const char* flag :
       {"--webhook-port=-2", "--webhook-port=65536", "--webhook-service=webhooks",
        "--webhook-service=/webhooks", "--webhook-service=shop/", "--webhook-service=shop/1a",
        "--webhook-shutdown-delay=-1s"}) {
    EXPECT_THAT(ErrorOf({flag}), HasSubstr("--webhook-")) << flag;
  }
}

TEST(OptionsTest, EachFlagOfAnActionSelectsIt) {
  EXPECT_EQ(Parsed({}).action, Options::Action::kRun);
  EXPECT_EQ(Parsed({"--check"}).action, Options::Action::kCheck);
  EXPECT_EQ(Parsed({"--print-rbac"}).action, Options::Action::kPrintRbac);
  EXPECT_EQ(Parsed({"--print-crd"}).action, Options::Action::kPrintCrd);
  EXPECT_EQ(Parsed({"--print-webhooks"}).action, Options::Action::kPrintWebhooks);
  EXPECT_EQ(Parsed({"--uninstall-webhooks"}).action, Options::Action::kUninstallWebhooks);
  EXPECT_FALSE(Parsed({}).install_crds);
  EXPECT_TRUE(Parsed({"--install-crds"}).install_crds);
  EXPECT_TRUE(Parsed({"--install-webhooks"}).webhook.install);
}

TEST(OptionsTest, TwoActionsAreAnError) {
  EXPECT_EQ(ErrorOf({"--check", "--print-rbac"}),
            "web-operator: --check and --print-rbac exclude each other: use one of them\n");
  EXPECT_EQ(ErrorOf({"--print-crd", "--print-rbac"}),
            "web-operator: --print-rbac and --print-crd exclude each other: use one of them\n");
  EXPECT_EQ(ErrorOf({"--print-webhooks", "--check"}),
            "web-operator: --check and --print-webhooks exclude each other: use one of them\n");
  EXPECT_EQ(ErrorOf({"--uninstall-webhooks", "--check"}),
            "web-operator: --check and --uninstall-webhooks exclude each other: use one of them\n");
}

TEST(OptionsTest, WithoutFlagsEachNewOptionHasItsDefault) {
  const Options options = Parsed({});
  const Options defaults;

  EXPECT_EQ(options.max_concurrent_reconciles, defaults.max_concurrent_reconciles);
  EXPECT_EQ(options.sync_period, defaults.sync_period);
  EXPECT_EQ(options.leader_election.enabled, defaults.leader_election.enabled);
  EXPECT_EQ(options.leader_election.lease_duration, defaults.leader_election.lease_duration);
  EXPECT_EQ(options.metrics.secure, defaults.metrics.secure);
  EXPECT_EQ(options.metrics.cert_name, defaults.metrics.cert_name);
  EXPECT_EQ(options.health.bind_address, defaults.health.bind_address);
}

TEST(OptionsTest, NumbersOfReconcilesBelowOneAreRejected) {
  EXPECT_EQ(
      ErrorOf({"--max-concurrent-reconciles=0"}),
      "web-operator: invalid value \"0\" for --max-concurrent-reconciles: write a number of 1 "
      "or more, such as 4\n");
  for (const char* value : {"Foo", "=2", "Foo=0", "Foo=x"}) {
    EXPECT_EQ(ErrorOf({"--kind-concurrency", value}),
              std::string("web-operator: invalid value \"") + value +
                  "\" for --kind-concurrency: write kinds and numbers, such as "
                  "Foo.samplecontroller.k8s.io=4\n");
  }
}

TEST(OptionsTest, ATimeOfLeaderElectionOfZeroIsRejected) {
  EXPECT_EQ(
      ErrorOf({"--leader-election-retry-period=0"}),
      "web-operator: invalid value \"0\" for --leader-election-retry-period: write a duration "
      "with its unit, such as 500ms, 30s or 1m30s\n");
}

TEST(OptionsTest, TheNamespaceOfTheLeaseIsOneNamespace) {
  EXPECT_EQ(
      ErrorOf({"--leader-election-namespace=a,b"}),
      "web-operator: invalid value \"a,b\" for --leader-election-namespace: write the name of "
      "a namespace\n");
}

TEST(OptionsTest, FlagsOfGoOperatorsAreAcceptedIfTheyChangeNothing) {
  Parsed({"--enable-http2=false", "--pprof-bind-address=0"});

  EXPECT_EQ(ErrorOf({"--enable-http2"}),
            "web-operator: --enable-http2: the servers use HTTP/1.1 only: remove the flag\n");
  EXPECT_EQ(
      ErrorOf({"--pprof-bind-address=:6060"}),
      "web-operator: invalid value \":6060\" for --pprof-bind-address: there is no pprof: use "
      "--debug-bind-address\n");
}

// Switches.

TEST(OptionsTest, ASwitchIsSetWithAndWithoutAValue) {
  EXPECT_TRUE(Parsed({"--leader-elect"}).leader_election.enabled);
  EXPECT_TRUE(Parsed({"-leader-elect", "-v=1"}).leader_election.enabled);
  EXPECT_TRUE(Parsed({"--leader-elect=true"}).leader_election.enabled);
  EXPECT_FALSE(Parsed({"--leader-elect=false"}).leader_election.enabled);
  EXPECT_FALSE(Parsed({"--leader-elect", "--leader-elect=0"}).leader_election.enabled);
}

TEST(OptionsTest, AValueOfASwitchThatIsNotABooleanIsRejected) {
  EXPECT_EQ(ErrorOf({"--leader-elect=yes"}),
            "web-operator: invalid value \"yes\" for --leader-elect: write true or false\n");
  EXPECT_EQ(ErrorOf({"--leader-elect", "true"}),
            "web-operator: unexpected argument \"true\"; run with --help for the list of flags\n");
}

// The spellings of a flag.

class FlagSpellingTest : public ::testing::TestWithParam<std::string> {};

/// Splits `line` at its spaces, in place: each space is overwritten with '\0'.
std::vector<const char*> SplitWords(std::string& line) {
  std::vector<const char*> words{line.c_str()};
  for (char& c : line) {
    if (c != ' ') continue;
    c = '\0';
    words.push_back(&c + 1);
  }
  return words;
}

TEST_P(FlagSpellingTest, EachSpellingOfAFlagIsAccepted) {
  std::string line = GetParam();

  const Options options = Parsed(SplitWords(line));

  EXPECT_EQ(options.kubeconfig, "/k");
  EXPECT_TRUE(options.log.V(4).Enabled());
}

INSTANTIATE_TEST_SUITE_P(Forms, FlagSpellingTest,
                         ::testing::Values("--kubeconfig=/k --v=4", "--kubeconfig /k --v 4",
                                           "-kubeconfig=/k -v=4", "-kubeconfig /k -v 4",
                                           "-kubeconfig=/k -v4",
                                           "-kubeconfig=/old -kubeconfig=/k -v=1 -v=4"));

TEST(OptionsTest, AValueMayContainAnEqualsSign) {
  EXPECT_EQ(Parsed({"-kubeconfig=/a=b"}).kubeconfig, "/a=b");
}

TEST(OptionsTest, AValueMayStartWithADash) {
  EXPECT_EQ(Parsed({"--kubeconfig", "-k"}).kubeconfig, "-k");
}

TEST(OptionsTest, AValueMayBeEqualToAHelpOrVersionFlag) {
  EXPECT_EQ(Parsed({"--context", "-h"}).context, "-h");
  EXPECT_EQ(Parsed({"--context", "--version"}).context, "--version");
}

TEST(OptionsTest, AnEmptyValueOverridesEarlierValues) {
  const Options options = Parsed({"--kubeconfig=/k", "--kubeconfig=", "--namespace", ""});

  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.watch_namespace, "");
}

TEST(OptionsTest, WatchNamespaceInTheEnvironmentSetsTheNamespace) {
  EXPECT_EQ(Parsed({}, {{"WATCH_NAMESPACE", "web"}}).watch_namespace, "web");
}

TEST(OptionsTest, TheNamespaceFlagOverridesTheEnvironment) {
  EXPECT_EQ(Parsed({"--namespace="}, {{"WATCH_NAMESPACE", "web"}}).watch_namespace, "");
}

TEST(OptionsTest, LoggingFormatJsonSelectsJsonLines) {
  const Options options = Parsed({"--logging-format=json"});

  ::testing::internal::CaptureStderr();
  options.log.Info("hello");

  EXPECT_EQ(::testing::internal::GetCapturedStderr().substr(0, 9), "{\"level\":");
}

TEST(OptionsTest, RepeatedLinesAreLeftOutUnlessLogSamplingIsFalse) {
  const auto lines_of = [](const Options& options) {
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < 1000; ++i) options.log.Info("hello");
    const std::string text = ::testing::internal::GetCapturedStderr();
    return std::count(text.begin(), text.end(), '\n');
  };

  EXPECT_LT(lines_of(Parsed({})), 1000);
  EXPECT_EQ(lines_of(Parsed({"--log-sampling=false"})), 1000);
}

}  // namespace
}  // namespace kopp
