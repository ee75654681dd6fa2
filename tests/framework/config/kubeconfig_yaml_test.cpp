#include "config_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigYamlTest = ConfigFixture;

TEST_F(KubeconfigYamlTest, InvalidYamlIsRejectedWithItsLineAndColumn) {
  EXPECT_EQ(LoadErrorOfText("kind: Config\nclusters: [\nusers: }\n"),
            "kubeconfig DIR/config, line 3, column 8: invalid YAML: illegal flow end; correct "
            "it, or recreate it with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, CharacterOfAnInvalidEscapeIsNotShown) {
  for (const char* text : {"kind: \"\\\x01\"\n", "kind: \"\\c\"\n"}) {
    EXPECT_EQ(LoadErrorOfText(text),
              "kubeconfig DIR/config, line 1, column 10: invalid YAML: unknown escape character; "
              "correct it, or recreate it with `kubectl config view --raw`");
  }
}

TEST_F(KubeconfigYamlTest, CodePointOfAnInvalidEscapeIsNotShown) {
  EXPECT_EQ(
      LoadErrorOfText("kind: \"\\U7fffffff\"\n"),
      "kubeconfig DIR/config, line 1, column 18: invalid YAML: invalid unicode; correct it, or "
      "recreate it with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, VersionInADirectiveIsNotShown) {
  EXPECT_EQ(LoadErrorOfText("%YAML canary\n---\nkind: Config\n"),
            "kubeconfig DIR/config, line 1, column 1: invalid YAML: bad YAML version; correct it, "
            "or recreate it with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, AliasWithoutAnchorIsRejectedWithoutItsName) {
  EXPECT_EQ(LoadErrorOfText("kind: *canary\n"),
            "kubeconfig DIR/config, line 1, column 7: invalid YAML: the referenced anchor is not "
            "defined; correct it, or recreate it with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, ErrorsDoNotShowTheTextOfTheFile) {
  for (const char* text : {"%YAML canary canary\n---\n{}",
                           "%YAML 1.1\n%YAML canary\n---\n{}",
                           "%YAML 9.canary\n---\n",
                           "%TAG canary\n---\n{}",
                           "%TAG !canary! canary\n%TAG !canary! canary\n---\n{}",
                           "a: !<canary",
                           "a: !canary!x! b",
                           "a: !canary !canary b",
                           "a: &canary &canary b",
                           "a: &canary",
                           "a: *canary canary",
                           "a: *canary, b: *canary",
                           "a: !canary *canary",
                           "a: canary: canary",
                           "a: - canary",
                           "canary\n  a: b: c",
                           "a: [canary",
                           "a: {canary",
                           "a: {canary: [}",
                           "a: canary]\nb: ]canary",
                           "a: 'canary",
                           "a: \"canary",
                           "a: \"canary\n---\n\"",
                           "a: \"\\xcanary\"",
                           "a: \"\\ucanary\"",
                           "a: |canary",
                           "a: >0canary",
                           "a: @canary",
                           "a: `canary",
                           "a: %canary",
                           "a: b\n\tcanary: c",
                           "? canary\n: canary\n- canary",
                           "canary",
                           "[canary]",
                           "canary: canary",
                           "users: canary",
                           "users: {canary: canary}",
                           "users:\n- {name: me, user: canary}\n- {name: me, user: canary}",
                           "users:\n- {name: [canary]}",
                           "current-context: [canary]",
                           "kind: {canary: canary}"}) {
    const std::string error = LoadErrorOfText(text);
    EXPECT_TRUE(Contains(error, "kubeconfig DIR/config")) << text << '\n' << error;
    EXPECT_FALSE(Contains(error, "canary")) << text << '\n' << error;
  }
}

TEST_F(KubeconfigYamlTest, AliasIsRejected) {
  EXPECT_EQ(LoadErrorOfText("kind: Config\nclusters: &all []\nusers: *all\n"),
            "kubeconfig DIR/config, line 3, column 8: invalid YAML: it must not use "
            "aliases (*name); correct it, or recreate it with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, RecursiveAliasIsRejected) {
  EXPECT_TRUE(Contains(LoadErrorOfText("clusters: &all [*all]\n"), "must not use aliases"));
}

TEST_F(KubeconfigYamlTest, DeepNestingIsRejected) {
  EXPECT_TRUE(Contains(LoadErrorOfText("clusters: " + std::string(10'000, '[')),
                       "invalid YAML: it is nested too deeply; "));
}

TEST_F(KubeconfigYamlTest, MoreThan100000ValuesAreRejected) {
  std::string text = "clusters: [";
  for (int i = 0; i < 100'000; ++i) text += "a,";

  EXPECT_TRUE(Contains(LoadErrorOfText(text + "]\n"), "invalid YAML: more than 100,000 values; "));
}

TEST_F(KubeconfigYamlTest, FileLargerThanOneMebibyteIsRejected) {
  EXPECT_EQ(LoadErrorOfText(std::string((1U << 20U) + 1, '#')),
            "--kubeconfig: DIR/config is larger than 1 MiB, the maximum; pass the correct file");
}

class InvalidKubeconfigTest : public KubeconfigYamlTest,
                              public ::testing::WithParamInterface<const char*> {};

TEST_P(InvalidKubeconfigTest, FileThatIsNotAKubeconfigIsRejected) {
  EXPECT_EQ(LoadErrorOfText(GetParam()),
            "kubeconfig DIR/config: this file is not a kubeconfig, which has \"kind: Config\" and "
            "lists of clusters, users and contexts; use the file that kubectl uses");
}

INSTANTIATE_TEST_SUITE_P(InvalidTexts, InvalidKubeconfigTest,
                         ::testing::Values("hello\n", "[1, 2]\n", "kind: Pod\n", "a: b\n"));

TEST_F(KubeconfigYamlTest, ClustersFieldThatIsNotAListIsRejectedWithItsLine) {
  EXPECT_EQ(LoadErrorOfText("kind: Config\nclusters: {}\n"),
            "kubeconfig DIR/config, line 2: clusters must be a list");
}

TEST_F(KubeconfigYamlTest, UnusedEntryThatIsNotValidIsIgnored) {
  for (const char* unused : {"user: {}", "name: ''", "null", "text", "{name: other, user: [1]}",
                             "{name: other, user: {token: a, token: b}}"}) {
    EXPECT_EQ(LoadText(std::string("clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
                                   "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                                   "current-context: x\n"
                                   "users:\n- {name: u, user: {token: t}}\n- ") +
                       unused + '\n')
                  .token,
              "t")
        << unused;
  }
}

TEST_F(KubeconfigYamlTest, UsedEntryThatIsNotValidIsRejectedWithItsLine) {
  EXPECT_EQ(LoadErrorOfText("clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
                            "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                            "current-context: x\n"
                            "users:\n- {name: u, user: [1]}\n"),
            "kubeconfig DIR/config, line 5: each entry of users must have a name and a user "
            "(a map)");
}

TEST_F(KubeconfigYamlTest, DuplicateEntryIsRejected) {
  EXPECT_EQ(LoadErrorOfText("users:\n- {name: me, user: {}}\n- {name: me, user: {}}\n"),
            "kubeconfig DIR/config, line 3: user \"me\" is defined twice; remove or rename one");
}

TEST_F(KubeconfigYamlTest, DuplicateFieldIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("token: a").UserField("token: b")),
            "kubeconfig DIR/config: user \"me\", line 12: \"token\" is defined twice; remove one");
}

TEST_F(KubeconfigYamlTest, DuplicateKeyBelowAFieldIsRejectedWithoutTheKey) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("token: {canary: a, canary: b}")),
            "kubeconfig DIR/config: user \"me\", line 11: a key is defined twice; remove one");
}

TEST_F(KubeconfigYamlTest, ListInsteadOfANameIsRejectedWithItsLineOnce) {
  EXPECT_EQ(LoadErrorOfText("users:\n- {name: [me], user: {}}\n"),
            "kubeconfig DIR/config, line 2: name must be a string");
}

TEST_F(KubeconfigYamlTest, DuplicateMapOfAnEntryIsRejectedWithItsLineOnce) {
  EXPECT_EQ(
      LoadErrorOfText("contexts:\n- {name: x, context: {},\n   context: {}}\n"
                      "current-context: x\n"),
      "kubeconfig DIR/config: context \"x\", line 3: \"context\" is defined twice; remove one");
}

TEST_F(KubeconfigYamlTest, ListInsteadOfStringIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("token: [a]")),
            "kubeconfig DIR/config: user \"me\", line 11: token must be a string");
}

TEST_F(KubeconfigYamlTest, JsonKubeconfigIsAccepted) {
  EXPECT_EQ(LoadText(R"({"kind": "Config", "current-context": "dev",
                         "clusters": [{"name": "east", "cluster": {"server": "https://json"}}],
                         "contexts": [{"name": "dev", "context": {"cluster": "east"}}]})")
                .server,
            "https://json");
}

}  // namespace
}  // namespace kopp
