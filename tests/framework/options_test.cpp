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
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data(), "Keeps webs.",
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

// The line on standard error.
std::string Complaint(const std::vector<const char*>& arguments, const Variables& variables = {}) {
  const auto result = Parse(arguments, variables);
  if (std::holds_alternative<Options>(result)) return "no complaint";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
  return std::get<EarlyExit>(result).text;
}

std::string Text(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (std::holds_alternative<Options>(result)) return "no text";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 0);
  return std::get<EarlyExit>(result).text;
}

TEST(OptionsTest, WithoutFlagsAllIsDefaultButTheName) {
  const Options options = Parsed({});

  EXPECT_EQ(options.name, "web-operator");
  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.watch_namespace, "");
  EXPECT_EQ(options.http_transport, Options{}.http_transport);
  EXPECT_EQ(options.metrics_bind_address, "0");
  EXPECT_EQ(options.graceful_shutdown_timeout, Options{}.graceful_shutdown_timeout);
  EXPECT_TRUE(options.log.V(0).Enabled());
  EXPECT_FALSE(options.log.V(1).Enabled());
}

TEST(OptionsTest, WithoutAnyArgumentTheNameIsKopps) {
  EXPECT_EQ(std::get<Options>(ParseCommandLine(0, nullptr)).name, "kopp");
}

TEST(OptionsTest, EveryFlagReachesItsField) {
  const Options options =
      Parsed({"--kubeconfig=/k", "--context=dev", "--master=https://m", "--namespace=web",
              "--http-transport=beast", "--metrics-bind-address=:8080",
              "--graceful-shutdown-timeout=1m30s", "--v=4"});

  EXPECT_EQ(options.kubeconfig, "/k");
  EXPECT_EQ(options.context, "dev");
  EXPECT_EQ(options.master, "https://m");
  EXPECT_EQ(options.watch_namespace, "web");
  EXPECT_EQ(options.http_transport, TransportOptions::Calls::kBeast);
  EXPECT_EQ(options.metrics_bind_address, ":8080");
  EXPECT_EQ(options.graceful_shutdown_timeout, 90s);
  EXPECT_TRUE(options.log.V(4).Enabled());
  EXPECT_FALSE(options.log.V(5).Enabled());
}

// As people type it.

class SpellingTest : public ::testing::TestWithParam<std::string> {};

/// `line` cut at its spaces, which become the ends of the words.
std::vector<const char*> Words(std::string& line) {
  std::vector<const char*> words{line.c_str()};
  for (char& c : line) {
    if (c != ' ') continue;
    c = '\0';
    words.push_back(&c + 1);
  }
  return words;
}

TEST_P(SpellingTest, IsUnderstood) {
  std::string line = GetParam();

  const Options options = Parsed(Words(line));

  EXPECT_EQ(options.kubeconfig, "/k");
  EXPECT_TRUE(options.log.V(4).Enabled());
}

INSTANTIATE_TEST_SUITE_P(Forms, SpellingTest,
                         ::testing::Values("--kubeconfig=/k --v=4", "--kubeconfig /k --v 4",
                                           "-kubeconfig=/k -v=4", "-kubeconfig /k -v 4",
                                           "-kubeconfig=/k -v4",
                                           "-kubeconfig=/old -kubeconfig=/k -v=1 -v=4"));

TEST(OptionsTest, AValueMayHoldAnEqualsSign) {
  EXPECT_EQ(Parsed({"-kubeconfig=/a=b"}).kubeconfig, "/a=b");
}

TEST(OptionsTest, AValueMayBeginWithADash) {
  EXPECT_EQ(Parsed({"--kubeconfig", "-k"}).kubeconfig, "-k");
}

TEST(OptionsTest, AValueMayLookLikeAskingForHelp) {
  EXPECT_EQ(Parsed({"--context", "-h"}).context, "-h");
  EXPECT_EQ(Parsed({"--context", "--version"}).context, "--version");
}

TEST(OptionsTest, AnEmptyValueIsAValue) {
  const Options options = Parsed({"--kubeconfig=/k", "--kubeconfig=", "--namespace", ""});

  EXPECT_EQ(options.kubeconfig, "");
  EXPECT_EQ(options.watch_namespace, "");
}

TEST(OptionsTest, TheNamespaceComesFromTheEnvironmentToo) {
  EXPECT_EQ(Parsed({}, {{"WATCH_NAMESPACE", "web"}}).watch_namespace, "web");
}

TEST(OptionsTest, AFlagWinsOverTheEnvironment) {
  EXPECT_EQ(Parsed({"--namespace="}, {{"WATCH_NAMESPACE", "web"}}).watch_namespace, "");
}

TEST(OptionsTest, TheLogIsWrittenInTheFormatAskedFor) {
  const Options options = Parsed({"--logging-format=json"});

  ::testing::internal::CaptureStderr();
  options.log.Info("hello");

  EXPECT_EQ(::testing::internal::GetCapturedStderr().substr(0, 6), "{\"ts\":");
}

// Durations.

struct DurationCase {
  std::string text;
  Duration duration;
};

void PrintTo(const DurationCase& shown, std::ostream* out) { *out << shown.text; }

class DurationFlagTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(DurationFlagTest, IsReadAsGoReadsIt) {
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

class BadDurationFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BadDurationFlagTest, IsRefused) {
  EXPECT_EQ(Complaint({"--graceful-shutdown-timeout", GetParam()}),
            std::string("web-operator: --graceful-shutdown-timeout \"") + GetParam() +
                "\": write a duration with its unit, such as 500ms, 30s or 1m30s\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, BadDurationFlagTest,
                         ::testing::Values("", "30", "s", ".s", "30 s", "30s ", "1d", "-5s", "--1s",
                                           "1e3s", "9223372036854775808ns", "3000000h", "1s.",
                                           "99999999999999999999s"));

// Addresses to listen on.

class BindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BindAddressFlagTest, IsTaken) {
  EXPECT_EQ(Parsed({"--metrics-bind-address", GetParam()}).metrics_bind_address, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Texts, BindAddressFlagTest,
                         ::testing::Values("0", ":8080", ":0", "127.0.0.1:65535", "0.0.0.0:80",
                                           "[::1]:8080", "[::]:8080", "localhost:8080"));

class BadBindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BadBindAddressFlagTest, IsRefused) {
  EXPECT_EQ(Complaint({"--metrics-bind-address", GetParam()}),
            std::string("web-operator: --metrics-bind-address \"") + GetParam() +
                "\": write :8080 for all addresses, or 127.0.0.1:8080 or [::1]:8080 for one, or 0 "
                "for nowhere\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, BadBindAddressFlagTest,
                         ::testing::Values("", "8080", ":", ":65536", ":-1", ":+1", ": 80", ":80 ",
                                           ":http", "*:80", "::1:80", "[::1]", "[]:80", "[:80",
                                           "]:80", "[localhost]:80", "http://localhost:80", "00",
                                           "false"));

// What cannot be used.

TEST(OptionsTest, AnUnknownFlagIsAnsweredWithTheNearestKnownOne) {
  EXPECT_EQ(Complaint({"--kubeconfg=/k"}),
            "web-operator: unknown flag \"--kubeconfg\"; did you mean --kubeconfig?\n");
}

TEST(OptionsTest, AnUnknownFlagWithOneDashIsAnsweredToo) {
  EXPECT_EQ(Complaint({"-contxt", "dev"}),
            "web-operator: unknown flag \"--contxt\"; did you mean --context?\n");
}

TEST(OptionsTest, AnUnknownFlagThatIsNearNoneIsAnsweredWithTheHelp) {
  EXPECT_EQ(Complaint({"--frobnicate"}),
            "web-operator: unknown flag \"--frobnicate\"; --help shows the flags\n");
}

TEST(OptionsTest, AnArgumentThatIsNoFlagIsRefused) {
  EXPECT_EQ(Complaint({"start"}),
            "web-operator: unexpected argument \"start\"; --help shows the flags\n");
}

TEST(OptionsTest, AnArgumentThatWouldBreakTheLineIsEscaped) {
  EXPECT_EQ(Complaint({"start\nnow"}),
            "web-operator: unexpected argument \"start\\x0anow\"; --help shows the flags\n");
}

TEST(OptionsTest, AFlagWithoutItsValueIsRefused) {
  EXPECT_EQ(Complaint({"--kubeconfig"}), "web-operator: --kubeconfig needs a value\n");
}

TEST(OptionsTest, AnUnknownTransportIsAnsweredWithThoseThereAre) {
  EXPECT_EQ(Complaint({"--http-transport=curl"}),
            "web-operator: --http-transport \"curl\": write cpprestsdk or beast\n");
}

TEST(OptionsTest, AnUnknownLogFormatIsAnsweredWithThoseThereAre) {
  EXPECT_EQ(Complaint({"--logging-format=xml"}),
            "web-operator: --logging-format \"xml\": write text or json\n");
}

TEST(OptionsTest, AVerbosityThatIsNoNumberIsRefused) {
  EXPECT_EQ(Complaint({"-v=debug"}), "web-operator: -v \"debug\": write a number, such as 4\n");
}

TEST(OptionsTest, AVerbosityBelowZeroIsRefused) {
  EXPECT_EQ(Complaint({"-v", "-1"}), "web-operator: -v \"-1\": write a number, such as 4\n");
}

TEST(OptionsTest, ANamespaceThatIsNoNameIsRefused) {
  EXPECT_EQ(Complaint({"--namespace=web,shop"}),
            "web-operator: --namespace \"web,shop\": write the name of one namespace, or nothing "
            "for all\n");
}

TEST(OptionsTest, ANamespaceOfTheEnvironmentThatIsNoNameIsRefusedAsWhatItIs) {
  EXPECT_EQ(Complaint({}, {{"WATCH_NAMESPACE", "web,shop"}}),
            "web-operator: $WATCH_NAMESPACE \"web,shop\": write the name of one namespace, or "
            "nothing for all\n");
}

TEST(OptionsTest, ANamespaceThatIsTypedIsRefusedAsSuchWhateverTheEnvironmentSays) {
  EXPECT_TRUE(Complaint({"--namespace=a,b"}, {{"WATCH_NAMESPACE", "c,d"}})
                  .starts_with("web-operator: --namespace \"a,b\": "));
}

// Texts.

TEST(OptionsTest, TheHelpBeginsWithWhatTheProgramIsAndHowItIsUsed) {
  EXPECT_TRUE(Text({"--help"}).starts_with("Keeps webs.\n\nUsage: web-operator [flags]\n\n"));
}

TEST(OptionsTest, TheHelpTellsOfAFlagItsValueItsUseAndItsDefault) {
  EXPECT_NE(
      Text({"--help"})
          .find(
              "  --graceful-shutdown-timeout DURATION  How long work in hand may take to end after "
              "a stop,\n"
              "                                        such as 500ms or 1m30s; 0: not at all. "
              "Default: 30s.\n"),
      std::string::npos)
      << Text({"--help"});
}

TEST(OptionsTest, TheHelpTellsWhichVariablesAreRead) {
  EXPECT_NE(Text({"--help"}).find("$WATCH_NAMESPACE"), std::string::npos);
  EXPECT_NE(Text({"--help"}).find("$KUBECONFIG"), std::string::npos);
}

TEST(OptionsTest, TheHelpFitsAHundredColumns) {
  std::istringstream help(Text({"--help"}));

  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(OptionsTest, TheHelpComesBeforeAComplaint) {
  EXPECT_EQ(Text({"--nonsense", "-h"}), Text({"--help"}));
}

TEST(OptionsTest, TheVersionIsShown) {
  EXPECT_TRUE(Text({"-version"}).starts_with("web-operator, with kopp ")) << Text({"-version"});
}

TEST(OptionsDeathTest, TheCommandLineEndsTheProgramForHelp) {
  const char* const arguments[] = {"web-operator", "--help"};

  EXPECT_EXIT(Options::FromCommandLine(2, arguments), ::testing::ExitedWithCode(0), "");
}

TEST(OptionsDeathTest, TheCommandLineEndsTheProgramForWhatItCannotUse) {
  const char* const arguments[] = {"web-operator", "--nonsense"};

  EXPECT_EXIT(Options::FromCommandLine(2, arguments), ::testing::ExitedWithCode(2),
              "web-operator: unknown flag \"--nonsense\"; --help shows the flags");
}

}  // namespace
}  // namespace kopp
