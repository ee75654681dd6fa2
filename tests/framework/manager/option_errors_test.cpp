// Invalid command lines.
#include "manager/options_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kopp {
namespace {

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

}  // namespace
}  // namespace kopp
