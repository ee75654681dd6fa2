// --help and --version.
#include "manager/options_fixture.hpp"

#include <cstddef>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace kopp {
namespace {

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
                      "calls are cancelled. 0 means at once, a negative time for\n"
                      "                                        "
                      "ever. Default: 30s.\n"),
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
