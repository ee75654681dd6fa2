#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/options.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using Variables = std::map<std::string, std::string>;

std::variant<Options, EarlyExit> Parse(std::vector<const char*> arguments,
                                       const Variables& variables = {}) {
  arguments.insert(arguments.begin(), "/usr/bin/web-operator");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data(), "Manages websites.",
                          [&](const std::string& name) -> std::optional<std::string> {
                            const auto found = variables.find(name);
                            return found == variables.end() ? std::nullopt
                                                            : std::optional(found->second);
                          });
}

Options Parsed(const std::vector<const char*>& arguments, const Variables& variables = {}) {
  const auto result = Parse(arguments, variables);
  if (const auto* early = std::get_if<EarlyExit>(&result)) ADD_FAILURE() << early->text;
  return std::get<Options>(result);
}

// Returns the line that is printed to standard error.
std::string ErrorOf(const std::vector<const char*>& arguments, const Variables& variables = {}) {
  const auto result = Parse(arguments, variables);
  if (std::holds_alternative<Options>(result)) return "no error";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
  return std::get<EarlyExit>(result).text;
}

// Returns the text that is printed to standard output.
std::string OutputOf(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (std::holds_alternative<Options>(result)) return "no output";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 0);
  return std::get<EarlyExit>(result).text;
}

TEST(OptionsTest, WithoutFlagsOptionsHaveDefaultsAndTheNameOfTheProgram) {
  const Options options = Parsed({});

  EXPECT_EQ(options.name, "web-operator");
  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.watch_namespace, "");
  EXPECT_EQ(options.http_transport, TransportOptions::Calls::kBeast);
  EXPECT_EQ(options.kube_api_qps, 0);
  EXPECT_EQ(options.kube_api_burst, 0);
  EXPECT_EQ(options.metrics_bind_address, "0");
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
  EXPECT_EQ(options.metrics_bind_address, ":8080");
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
              "--debug-bind-address=127.0.0.1:8082"});

  EXPECT_FALSE(options.metrics_secure);
  EXPECT_EQ(options.metrics_cert_path, "/c");
  EXPECT_EQ(options.metrics_cert_name, "a.crt");
  EXPECT_EQ(options.metrics_cert_key, "a.key");
  EXPECT_EQ(options.health_probe_bind_address, ":8081");
  EXPECT_EQ(options.debug_bind_address, "127.0.0.1:8082");
}

TEST(OptionsTest, EachFlagOfAnActionSelectsIt) {
  EXPECT_EQ(Parsed({}).action, Options::Action::kRun);
  EXPECT_EQ(Parsed({"--check"}).action, Options::Action::kCheck);
  EXPECT_EQ(Parsed({"--print-rbac"}).action, Options::Action::kPrintRbac);
}

TEST(OptionsTest, TwoActionsAreAnError) {
  EXPECT_EQ(ErrorOf({"--check", "--print-rbac"}),
            "web-operator: --check and --print-rbac exclude each other: use one of them\n");
}

TEST(OptionsTest, WithoutFlagsEachNewOptionHasItsDefault) {
  const Options options = Parsed({});
  const Options defaults;

  EXPECT_EQ(options.max_concurrent_reconciles, defaults.max_concurrent_reconciles);
  EXPECT_EQ(options.sync_period, defaults.sync_period);
  EXPECT_EQ(options.leader_election.enabled, defaults.leader_election.enabled);
  EXPECT_EQ(options.leader_election.lease_duration, defaults.leader_election.lease_duration);
  EXPECT_EQ(options.metrics_secure, defaults.metrics_secure);
  EXPECT_EQ(options.metrics_cert_name, defaults.metrics_cert_name);
  EXPECT_EQ(options.health_probe_bind_address, defaults.health_probe_bind_address);
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

// Durations.

struct DurationCase {
  std::string text;
  Duration duration;
};

void PrintTo(const DurationCase& test_case, std::ostream* out) { *out << test_case.text; }

class DurationFlagTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(DurationFlagTest, DurationIsParsedAsInGo) {
  const Options options = Parsed({"--graceful-shutdown-timeout", GetParam().text.c_str()});

  EXPECT_EQ(options.graceful_shutdown_timeout, GetParam().duration);
}

INSTANTIATE_TEST_SUITE_P(Texts, DurationFlagTest,
                         ::testing::Values(DurationCase{"0", 0s}, DurationCase{"30s", 30s},
                                           DurationCase{"500ms", 500ms},
                                           DurationCase{"1h2m3.5s", 1h + 2min + 3500ms},
                                           DurationCase{".5h", 30min}, DurationCase{"1.s", 1s},
                                           DurationCase{"+1us", 1us}, DurationCase{"1µs1μs", 2us},
                                           DurationCase{"7ns", 7ns},
                                           DurationCase{"0.0000000001s", 0s},
                                           DurationCase{"9223372036854775807ns", Duration::max()}));

class InvalidDurationFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(InvalidDurationFlagTest, InvalidDurationIsRejected) {
  EXPECT_EQ(ErrorOf({"--graceful-shutdown-timeout", GetParam()}),
            std::string("web-operator: invalid value \"") + GetParam() +
                "\" for --graceful-shutdown-timeout: write a duration with its unit, such as "
                "500ms, 30s or 1m30s\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, InvalidDurationFlagTest,
                         ::testing::Values("", "30", "s", ".s", "30 s", "30s ", "1d", "-5s", "--1s",
                                           "1e3s", "9223372036854775808ns", "3000000h", "1s.",
                                           "99999999999999999999s"));

// Addresses to listen on.

class BindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BindAddressFlagTest, BindAddressIsAccepted) {
  EXPECT_EQ(Parsed({"--metrics-bind-address", GetParam()}).metrics_bind_address, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Texts, BindAddressFlagTest,
                         ::testing::Values("0", ":8080", ":0", "127.0.0.1:65535", "0.0.0.0:80",
                                           "[::1]:8080", "[::]:8080", "localhost:8080"));

class InvalidBindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(InvalidBindAddressFlagTest, InvalidBindAddressIsRejected) {
  EXPECT_EQ(ErrorOf({"--metrics-bind-address", GetParam()}),
            std::string("web-operator: invalid value \"") + GetParam() +
                "\" for --metrics-bind-address: write :8080 for all addresses, or 127.0.0.1:8080 "
                "or [::1]:8080 for one, or 0 "
                "for no metrics\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, InvalidBindAddressFlagTest,
                         ::testing::Values("", "8080", ":", ":65536", ":-1", ":+1", ": 80", ":80 ",
                                           ":http", "*:80", "::1:80", "[::1]", "[]:80", "[:80",
                                           "]:80", "[localhost]:80", "http://localhost:80", "00",
                                           "false"));

// Invalid command lines.

TEST(OptionsTest, TheErrorForAnUnknownFlagSuggestsASimilarFlag) {
  EXPECT_EQ(ErrorOf({"--kubeconfg=/k"}),
            "web-operator: unknown flag \"--kubeconfg\"; did you mean --kubeconfig?\n");
}

TEST(OptionsTest, TheErrorForAnUnknownFlagWithOneDashSuggestsASimilarFlag) {
  EXPECT_EQ(ErrorOf({"-contxt", "dev"}),
            "web-operator: unknown flag \"--contxt\"; did you mean --context?\n");
}

TEST(OptionsTest, TheErrorForAnUnknownFlagWithoutSimilarFlagsRefersToHelp) {
  EXPECT_EQ(ErrorOf({"--frobnicate"}),
            "web-operator: unknown flag \"--frobnicate\"; run with --help for the list of flags\n");
}

TEST(OptionsTest, APositionalArgumentIsRejected) {
  EXPECT_EQ(ErrorOf({"start"}),
            "web-operator: unexpected argument \"start\"; run with --help for the list of flags\n");
}

TEST(OptionsTest, ALineBreakInAnErrorIsEscaped) {
  EXPECT_EQ(ErrorOf({"start\nnow"}),
            "web-operator: unexpected argument \"start\\x0anow\"; run with --help for the list of "
            "flags\n");
}

TEST(OptionsTest, AFlagWithoutItsValueIsRejected) {
  EXPECT_EQ(ErrorOf({"--kubeconfig"}),
            "web-operator: --kubeconfig needs a value: write --kubeconfig=FILE\n");
}

TEST(OptionsTest, TheErrorForAnUnknownTransportListsTheTransports) {
  EXPECT_EQ(
      ErrorOf({"--http-transport=curl"}),
      "web-operator: invalid value \"curl\" for --http-transport: write beast or cpprestsdk\n");
}

TEST(OptionsTest, TheErrorForAnUnknownLoggingFormatListsTheFormats) {
  EXPECT_EQ(
      ErrorOf({"--logging-format=xml"}),
      "web-operator: invalid value \"xml\" for --logging-format: write text, json, console or "
      "logfmt\n");
}

TEST(OptionsTest, AVerbosityThatIsNotANumberIsRejected) {
  EXPECT_EQ(
      ErrorOf({"-v=debug"}),
      "web-operator: invalid value \"debug\" for -v: write a number of 0 or more, such as 4\n");
}

TEST(OptionsTest, ANegativeVerbosityIsRejected) {
  EXPECT_EQ(ErrorOf({"-v", "-1"}),
            "web-operator: invalid value \"-1\" for -v: write a number of 0 or more, such as 4\n");
}

TEST(OptionsTest, ARateThatIsNegativeOrNotANumberIsRejected) {
  for (const char* value : {"-1", "", "fast", "inf", "nan", "5/s"}) {
    EXPECT_EQ(ErrorOf({"--kube-api-qps", value}),
              std::string("web-operator: invalid value \"") + value +
                  "\" for --kube-api-qps: write a number of 0 or more, such as 20\n");
  }
  EXPECT_EQ(
      ErrorOf({"--kube-api-burst=2.5"}),
      "web-operator: invalid value \"2.5\" for --kube-api-burst: write a number of 0 or more, "
      "such as 40\n");
}

TEST(OptionsTest, TheNamespaceFlagMayBeRepeatedAndHasTheNamesOfOtherOperators) {
  EXPECT_EQ(Parsed({"--namespace=web", "--watch-namespace=shop,a"}).watch_namespace, "web,shop,a");
  EXPECT_EQ(Parsed({"--namespaces=web"}).watch_namespace, "web");
}

TEST(OptionsTest, TheNamespaceFlagAcceptsAListOfNamespaces) {
  EXPECT_EQ(Parsed({"--namespace=web,shop"}).watch_namespace, "web,shop");
  EXPECT_EQ(Parsed({}, {{"WATCH_NAMESPACE", "web,shop"}}).watch_namespace, "web,shop");
}

TEST(OptionsTest, AnInvalidNamespaceIsRejected) {
  EXPECT_EQ(ErrorOf({"--namespace=web,../x"}),
            "web-operator: invalid value \"web,../x\" for --namespace: write the names of "
            "namespaces, separated by commas, or nothing for all\n");
}

TEST(OptionsTest, TheErrorForAnInvalidNamespaceInTheEnvironmentNamesTheVariable) {
  EXPECT_EQ(ErrorOf({}, {{"WATCH_NAMESPACE", "Web"}}),
            "web-operator: invalid value \"Web\" for $WATCH_NAMESPACE: write the names of "
            "namespaces, separated by commas, or nothing for all\n");
}

TEST(OptionsTest, TheErrorForAnInvalidNamespaceFlagNamesTheFlagEvenIfTheEnvironmentIsInvalidToo) {
  EXPECT_TRUE(ErrorOf({"--namespace=a,"}, {{"WATCH_NAMESPACE", "c d"}})
                  .starts_with("web-operator: invalid value \"a,\" for --namespace: "));
}

// Help and version.

TEST(OptionsTest, HelpStartsWithTheDescriptionAndTheUsage) {
  EXPECT_TRUE(
      OutputOf({"--help"}).starts_with("Manages websites.\n\nUsage: web-operator [flags]\n\n"));
}

TEST(OptionsTest, HelpShowsTypeDescriptionAndDefaultOfAFlag) {
  const std::string help = OutputOf({"--help"});

  EXPECT_NE(help.find("  --graceful-shutdown-timeout DURATION  "
                      "The time that running reconciles have to finish after\n"
                      "                                        "
                      "SIGTERM or SIGINT, such as 500ms or 1m30s; then their API\n"
                      "                                        "
                      "calls are cancelled. Default: 30s.\n"),
            std::string::npos)
      << help;
}

TEST(OptionsTest, HelpNamesTheEnvironmentVariables) {
  EXPECT_NE(OutputOf({"--help"}).find("$WATCH_NAMESPACE"), std::string::npos);
  EXPECT_NE(OutputOf({"--help"}).find("$KUBECONFIG"), std::string::npos);
}

TEST(OptionsTest, HelpExplainsTheSourcesOfFlags) {
  EXPECT_NE(OutputOf({"--help"})
                .find("--kube-api-qps from\n$KOPP_KUBE_API_QPS, or else from the "
                      "YAML file of --config"),
            std::string::npos);
}

TEST(OptionsTest, HelpHasGroupsAndEndsWithTheActions) {
  const std::string help = OutputOf({"--help"});
  std::size_t position = 0;

  for (const char* group : {"\nConfiguration:\n", "\nAPI server:\n", "\nControllers:\n",
                            "\nLeader election:\n", "\nEndpoints:\n", "\nLog, on standard error:\n",
                            "\nLog, with the flags of controller-runtime:\n", "\nActions:\n"}) {
    const auto found = help.find(group, position);
    ASSERT_NE(found, std::string::npos) << group << "is missing or misplaced in\n" << help;
    position = found;
  }
}

TEST(OptionsTest, HelpFitsInto100Columns) {
  std::istringstream help(OutputOf({"--help"}));

  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(OptionsTest, HelpTakesPrecedenceOverAnError) {
  EXPECT_EQ(OutputOf({"--nonsense", "-h"}), OutputOf({"--help"}));
}

TEST(OptionsTest, VersionPrintsTheProgramAndTheVersionOfKopp) {
  EXPECT_TRUE(OutputOf({"-version"}).starts_with("web-operator, with kopp "))
      << OutputOf({"-version"});
}

TEST(OptionsDeathTest, FromCommandLineExitsWith0ForHelp) {
  const char* const arguments[] = {"web-operator", "--help"};

  EXPECT_EXIT(Options::FromCommandLine(2, arguments), ::testing::ExitedWithCode(0), "");
}

TEST(OptionsDeathTest, FromCommandLineExitsWith2ForAnUnknownFlag) {
  const char* const arguments[] = {"web-operator", "--nonsense"};

  EXPECT_EXIT(Options::FromCommandLine(2, arguments), ::testing::ExitedWithCode(2),
              "web-operator: unknown flag \"--nonsense\"; run with --help for the list of flags");
}

}  // namespace
}  // namespace kopp
