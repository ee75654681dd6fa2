#include "config_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigYamlTest = ConfigFixture;

TEST_F(KubeconfigYamlTest, YamlThatIsBrokenIsRefusedWithItsLine) {
  EXPECT_EQ(ComplaintOf("kind: Config\nclusters: [\nusers: }\n"),
            "kubeconfig DIR/config, line 3: not YAML that can be read: illegal flow end; correct "
            "it, or write it anew with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, AnAliasIsRefused) {
  EXPECT_EQ(ComplaintOf("kind: Config\nclusters: &all []\nusers: *all\n"),
            "kubeconfig DIR/config, line 3: not YAML that can be read: a kubeconfig may not use "
            "aliases (*name); correct it, or write it anew with `kubectl config view --raw`");
}

TEST_F(KubeconfigYamlTest, ATreeThatContainsItselfIsRefused) {
  EXPECT_TRUE(Says(ComplaintOf("clusters: &all [*all]\n"), "may not use aliases"));
}

TEST_F(KubeconfigYamlTest, DeepNestingIsRefused) {
  EXPECT_TRUE(Says(ComplaintOf("clusters: " + std::string(10'000, '[')), "not YAML"));
}

TEST_F(KubeconfigYamlTest, ManyValuesAreRefused) {
  std::string text = "clusters: [";
  for (int i = 0; i < 100'000; ++i) text += "a,";

  EXPECT_TRUE(
      Says(ComplaintOf(text + "]\n"), "line 1: not YAML that can be read: more than 100,000"));
}

TEST_F(KubeconfigYamlTest, AFileLargerThanAMebibyteIsRefused) {
  EXPECT_EQ(ComplaintOf(std::string((1U << 20U) + 1, '#')),
            "--kubeconfig: DIR/config is larger than 1 MiB; is it the right file?");
}

class NotAKubeconfigTest : public KubeconfigYamlTest,
                           public ::testing::WithParamInterface<const char*> {};

TEST_P(NotAKubeconfigTest, IsRefused) {
  EXPECT_EQ(ComplaintOf(GetParam()),
            "kubeconfig DIR/config: not a kubeconfig (kind: Config, with clusters, users and "
            "contexts); give the file that kubectl uses");
}

INSTANTIATE_TEST_SUITE_P(Texts, NotAKubeconfigTest,
                         ::testing::Values("hello\n", "[1, 2]\n", "kind: Pod\n", "a: b\n"));

TEST_F(KubeconfigYamlTest, AListThatIsNotAListIsRefusedWithItsLine) {
  EXPECT_EQ(ComplaintOf("kind: Config\nclusters: {}\n"),
            "kubeconfig DIR/config, line 2: clusters has to be a list");
}

TEST_F(KubeconfigYamlTest, AnEntryWithoutANameIsRefusedWithItsLine) {
  EXPECT_EQ(ComplaintOf("kind: Config\nusers:\n- user: {}\n"),
            "kubeconfig DIR/config, line 3: each of users has to have a name and a user with "
            "fields");
}

TEST_F(KubeconfigYamlTest, AnEntryThatIsThereTwiceIsRefused) {
  EXPECT_EQ(ComplaintOf("users:\n- {name: me, user: {}}\n- {name: me, user: {}}\n"),
            "kubeconfig DIR/config, line 3: user \"me\" is there twice; remove or rename one");
}

TEST_F(KubeconfigYamlTest, AFieldThatIsThereTwiceIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("token: a").OnUser("token: b")),
            "kubeconfig DIR/config: user \"me\", line 12: \"token\" is there twice; remove one");
}

TEST_F(KubeconfigYamlTest, AListWhereATextBelongsIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("token: [a]")),
            "kubeconfig DIR/config: user \"me\", line 11: token has to be a text");
}

TEST_F(KubeconfigYamlTest, JsonIsYamlToo) {
  EXPECT_EQ(LoadText(R"({"kind": "Config", "current-context": "dev",
                         "clusters": [{"name": "east", "cluster": {"server": "https://json"}}],
                         "contexts": [{"name": "dev", "context": {"cluster": "east"}}]})")
                .server,
            "https://json");
}

}  // namespace
}  // namespace kopp
