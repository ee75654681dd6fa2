// Tests of flags in the environment and in the file of --config, and of a program's own flags.
#include "support/scratch_folder.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/flags.hpp>
#include <kopp/options.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OptionSourcesTest : public ::testing::Test {
 protected:
  std::variant<Options, EarlyExit> Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "web");
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return ParseCommandLine(
        static_cast<int>(argv.size()), argv.data(), "Manages websites.",
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        flags);
  }
  Options Parsed(const std::vector<std::string>& arguments) {
    const auto result = Parse(arguments);
    if (const auto* early = std::get_if<EarlyExit>(&result)) ADD_FAILURE() << early->text;
    return std::get<Options>(result);
  }
  // Returns the error, with DIR instead of the scratch folder.
  std::string ErrorOf(const std::vector<std::string>& arguments) {
    const auto result = Parse(arguments);
    if (std::holds_alternative<Options>(result)) return "no error";
    EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
    std::string text = std::get<EarlyExit>(result).text;
    const std::string path = (folder / "").string();
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path)) {
      text.replace(at, path.size(), "DIR/");
    }
    return text;
  }
  // Returns the flag --config with a file of this content.
  std::string Config(const std::string& yaml) {
    return "--config=" + folder.Write("web.yaml", yaml).string();
  }

  testing::ScratchFolder folder;
  std::map<std::string, std::string> environment;
  Flags flags;
};

// The environment.

TEST_F(OptionSourcesTest, AVariableSetsTheFlagOfItsName) {
  environment = {{"KOPP_KUBE_API_QPS", "20"}, {"KOPP_LEADER_ELECT", "true"}, {"KOPP_V", "4"}};

  const Options options = Parsed({});

  EXPECT_EQ(options.kube_api_qps, 20);
  EXPECT_TRUE(options.leader_election.enabled);
  EXPECT_TRUE(options.log.V(4).Enabled());
}

TEST_F(OptionSourcesTest, TheErrorForAnInvalidVariableNamesIt) {
  environment = {{"KOPP_KUBE_API_QPS", "fast"}};

  EXPECT_EQ(ErrorOf({}),
            "web: invalid value \"fast\" for $KOPP_KUBE_API_QPS: write a number of 0 or more, such "
            "as 20\n");
}

TEST_F(OptionSourcesTest, AnInvalidVariableIsIgnoredIfTheFlagIsGiven) {
  environment = {{"KOPP_KUBE_API_QPS", "fast"}};

  EXPECT_EQ(Parsed({"--kube-api-qps=3"}).kube_api_qps, 3);
}

TEST_F(OptionSourcesTest, TheVariableWithKoppsPrefixOverridesWatchNamespace) {
  environment = {{"KOPP_NAMESPACE", "web"}, {"WATCH_NAMESPACE", "shop"}};

  EXPECT_EQ(Parsed({}).watch_namespace, "web");
}

TEST_F(OptionSourcesTest, TheNamespaceOfTheLeaseIsThatOfThePodOrOperator) {
  environment = {{"OPERATOR_NAMESPACE", "operators"}};
  EXPECT_EQ(Parsed({}).leader_election.ns, "operators");

  environment["POD_NAMESPACE"] = "pods";
  EXPECT_EQ(Parsed({}).leader_election.ns, "pods");
}

// The file.

TEST_F(OptionSourcesTest, TheFileSetsFlagsOfAllTypes) {
  const Options options =
      Parsed({Config("kube-api-qps: 2.5\n"
                     "max-concurrent-reconciles: 4\n"
                     "leader-elect: true\n"
                     "sync-period: 1h30m\n"
                     "metrics-bind-address: :8443\n"
                     "context: \"\"\n"
                     "namespace: [web, shop]\n"
                     "kind-concurrency: {Foo.example.com: 4, Pod: 2}\n")});

  EXPECT_EQ(options.kube_api_qps, 2.5);
  EXPECT_EQ(options.max_concurrent_reconciles, 4);
  EXPECT_TRUE(options.leader_election.enabled);
  EXPECT_EQ(options.sync_period, 90min);
  EXPECT_EQ(options.metrics.bind_address, ":8443");
  EXPECT_EQ(options.watch_namespace, "web,shop");
  EXPECT_EQ(options.kind_concurrency.at("Foo.example.com"), 4);
}

TEST_F(OptionSourcesTest, TheCommandLineOverridesTheEnvironmentWhichOverridesTheFile) {
  const std::string config = Config("context: file\n");
  EXPECT_EQ(Parsed({config}).context, "file");

  environment = {{"KOPP_CONTEXT", "environment"}};
  EXPECT_EQ(Parsed({config}).context, "environment");
  EXPECT_EQ(Parsed({config, "--context=flag"}).context, "flag");
}

TEST_F(OptionSourcesTest, TheFileMayBeNamedInTheEnvironment) {
  environment = {{"KOPP_CONFIG", folder.Write("web.yaml", "context: dev").string()}};

  EXPECT_EQ(Parsed({}).context, "dev");
  EXPECT_EQ(Parsed({"--config="}).context, "");
}

TEST_F(OptionSourcesTest, AnEmptyFileAndAKeyWithoutValueChangeNothing) {
  EXPECT_EQ(Parsed({Config("")}).kube_api_qps, 0);
  EXPECT_EQ(Parsed({Config("kube-api-qps:\n")}).kube_api_qps, 0);
}

TEST_F(OptionSourcesTest, AnEmptyListInTheFileMeansAllNamespaces) {
  EXPECT_EQ(Parsed({Config("namespace: []\n")}).watch_namespace, "");
}

TEST_F(OptionSourcesTest, AnUnknownKeyIsRejectedWithItsLineAndASimilarKey) {
  EXPECT_EQ(
      ErrorOf({Config("v: 1\nkube-api-qsp: 20\n")}),
      "web: DIR/web.yaml, line 2: unknown key \"kube-api-qsp\"; did you mean kube-api-qps?\n");
  EXPECT_EQ(ErrorOf({Config("frobnicate: 1\n")}),
            "web: DIR/web.yaml, line 1: unknown key \"frobnicate\"; the keys are the names of the "
            "flags in --help\n");
  EXPECT_THAT(ErrorOf({Config("config: x\n")}), HasSubstr("line 1: unknown key \"config\""));
}

TEST_F(OptionSourcesTest, AnInvalidValueInTheFileIsRejectedWithItsLine) {
  EXPECT_EQ(ErrorOf({Config("v: 1\nleader-elect: maybe\n")}),
            "web: invalid value \"maybe\" for DIR/web.yaml, line 2: leader-elect: write true or "
            "false\n");
  EXPECT_EQ(ErrorOf({Config("context: [a, b]\n")}),
            "web: invalid value for DIR/web.yaml, line 1: context: write one value\n");
  EXPECT_EQ(ErrorOf({Config("namespace: [[a]]\n")}),
            "web: invalid value for DIR/web.yaml, line 1: namespace: write one value, a list of "
            "values, or a map of names to values\n");
}

TEST_F(OptionSourcesTest, AKeyThatIsSetTwiceIsRejected) {
  EXPECT_EQ(ErrorOf({Config("namespace: a\nwatch-namespace: b\n")}),
            "web: DIR/web.yaml, line 2: \"watch-namespace\" is set twice; remove one\n");
}

TEST_F(OptionSourcesTest, AFileThatCannotBeReadIsRejected) {
  EXPECT_THAT(ErrorOf({"--config=" + (folder / "none").string()}), StartsWith("web: --config: "));
  EXPECT_EQ(ErrorOf({Config("- a\n")}),
            "web: DIR/web.yaml: write a map of the names of flags to their values, such as \"v: "
            "4\"\n");
  EXPECT_THAT(ErrorOf({Config("v: [\n")}), HasSubstr("invalid YAML"));
}

// A program's own flags.

TEST_F(OptionSourcesTest, OwnFlagsAreSetFromAllSources) {
  std::string image = "nginx";
  int sites = 100;
  bool dry_run = false;
  Duration grace = 5s;
  std::vector<std::string> zones;
  flags.Add({.name = "image", .help = "The image."}, image)
      .Add({.name = "max-sites"}, sites)
      .Add({.name = "dry-run"}, dry_run)
      .Add({.name = "grace"}, grace)
      .Add({.name = "zone", .variables = {"ZONES"}}, zones);
  environment = {{"KOPP_MAX_SITES", "7"}, {"ZONES", "a,b"}};

  Parsed({"--image", "caddy", "-dry-run", Config("grace: 1m\nmax-sites: 8\n"), "--v=1"});

  EXPECT_EQ(image, "caddy");
  EXPECT_EQ(sites, 7);
  EXPECT_TRUE(dry_run);
  EXPECT_EQ(grace, 1min);
  EXPECT_THAT(zones, ElementsAre("a", "b"));
}

TEST_F(OptionSourcesTest, AnOwnFlagThatIsNotValidIsRejectedWithItsAdvice) {
  int sites = 100;
  flags.Add({.name = "max-sites", .advice = "write a number from 1 to 100"}, sites,
            [](int number) { return number >= 1 && number <= 100; });

  EXPECT_EQ(ErrorOf({"--max-sites=101"}),
            "web: invalid value \"101\" for --max-sites: write a number from 1 to 100\n");
  EXPECT_EQ(sites, 100);
}

TEST_F(OptionSourcesTest, AnInvalidFileIsRejectedWithoutItsText) {
  for (const char* text :
       {"token: *canary\n", "%YAML canary\n---\n{}", "token: \"canary\n", "token: canary: canary\n",
        "canary\n", "[canary]\n", "v: [[canary]]\n", "v: {canary: canary}\n"}) {
    EXPECT_THAT(ErrorOf({Config(text)}), AllOf(HasSubstr("web.yaml"), Not(HasSubstr("canary"))));
  }
}

TEST_F(OptionSourcesTest, ContentInsteadOfThePathOfTheFileIsRejectedAndNotShown) {
  EXPECT_EQ(ErrorOf({"--config=token: canary\nv: 1"}),
            "web: --config must be the path of a file, but is the content of one; write it to a "
            "file\n");
}

TEST_F(OptionSourcesTest, AnInvalidValueOfASecretFlagIsNotShown) {
  std::string token = "canary-by-default";
  flags.Add({.name = "token", .advice = "write 8 letters", .secret = true}, token,
            [](const std::string& text) { return text.size() == 8; });

  EXPECT_EQ(ErrorOf({"--token=canary"}), "web: invalid value for --token: write 8 letters\n");
  EXPECT_EQ(ErrorOf({Config("token: canary\n")}),
            "web: invalid value for DIR/web.yaml, line 1: token: write 8 letters\n");
  environment = {{"KOPP_TOKEN", "canary"}};
  EXPECT_EQ(ErrorOf({}), "web: invalid value for $KOPP_TOKEN: write 8 letters\n");
  EXPECT_THAT(std::get<EarlyExit>(Parse({"--help"})).text,
              AllOf(HasSubstr("--token TEXT"), Not(HasSubstr("canary"))));
}

TEST_F(OptionSourcesTest, HelpHasAGroupOfOwnFlags) {
  int sites = 100;
  flags.Add({.name = "max-sites", .help = "The maximum number of websites."}, sites);

  EXPECT_THAT(std::get<EarlyExit>(Parse({"--help"})).text,
              HasSubstr("\nFlags of this program:\n"
                        "  --max-sites NUMBER                    "
                        "The maximum number of websites. Default: 100.\n"));
}

TEST_F(OptionSourcesTest, AnOwnFlagWithTheNameOfAFlagOfKoppThrows) {
  std::string name;
  flags.Add({.name = "namespace"}, name);

  EXPECT_THROW(Parse({}), std::logic_error);
}

}  // namespace
}  // namespace kopp
