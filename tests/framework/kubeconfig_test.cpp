#include "config_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigTest = ConfigFixture;

// Contexts.

TEST_F(KubeconfigTest, TheContextsNamespaceIsTaken) {
  EXPECT_EQ(LoadText(AKubeconfig().OnContext("namespace: web")).ns, "web");
}

TEST_F(KubeconfigTest, WithoutANamespaceItIsDefault) {
  EXPECT_EQ(LoadText(AKubeconfig()).ns, "default");
}

TEST_F(KubeconfigTest, AContextThatIsNotThereIsAnsweredWithThoseThatAre) {
  const std::string file = Write("config", AKubeconfig());

  EXPECT_EQ(Complaint({.kubeconfig = file, .context = "prod"}),
            "kubeconfig DIR/config: there is no context \"prod\"; choose one with --context: it "
            "has \"dev\"");
}

TEST_F(KubeconfigTest, ACurrentContextThatIsNotThereIsAnsweredWithThoseThatAre) {
  EXPECT_EQ(
      ComplaintOf("current-context: gone\n"),
      "kubeconfig DIR/config: there is no context \"gone\"; choose one with --context: it has "
      "none");
}

TEST_F(KubeconfigTest, OfManyContextsTenAreNamed) {
  std::string text = "contexts:\n";
  for (int i = 100; i < 112; ++i) text += "- {name: c" + std::to_string(i) + ", context: {}}\n";

  EXPECT_TRUE(Says(ComplaintOf(text), "\"c109\" and 2 more"));
}

TEST_F(KubeconfigTest, AClusterThatIsNotThereIsAnsweredWithThoseThatAre) {
  EXPECT_EQ(ComplaintOf("current-context: dev\n"
                        "clusters: [{name: west, cluster: {server: 'https://w'}}]\n"
                        "contexts: [{name: dev, context: {cluster: east}}]\n"),
            "kubeconfig DIR/config: context \"dev\": its cluster \"east\" is not in kubeconfig "
            "DIR/config; it has \"west\"; correct the context, or add the cluster");
}

TEST_F(KubeconfigTest, AContextHasToNameACluster) {
  EXPECT_EQ(ComplaintOf("current-context: dev\ncontexts: [{name: dev, context: {}}]\n"),
            "kubeconfig DIR/config: context \"dev\": names no cluster; add cluster: NAME");
}

TEST_F(KubeconfigTest, AUserThatIsNotThereIsAnsweredWithThoseThatAre) {
  EXPECT_EQ(ComplaintOf("current-context: dev\n"
                        "clusters: [{name: east, cluster: {server: 'https://e'}}]\n"
                        "contexts: [{name: dev, context: {cluster: east, user: me}}]\n"),
            "kubeconfig DIR/config: context \"dev\": its user \"me\" is not in kubeconfig "
            "DIR/config; it has none; correct the context, or add the user");
}

TEST_F(KubeconfigTest, AContextWithoutAUserIsAnonymous) {
  const Config config = LoadText(
      "current-context: dev\n"
      "clusters: [{name: east, cluster: {server: 'https://e'}}]\n"
      "contexts: [{name: dev, context: {cluster: east}}]\n");

  EXPECT_EQ(config.server, "https://e");
  EXPECT_EQ(config.token, "");
}

TEST_F(KubeconfigTest, ANameThatWouldBreakTheLineIsEscaped) {
  const std::string file = Write("config", AKubeconfig());

  EXPECT_TRUE(Says(Complaint({.kubeconfig = file, .context = "a\nb"}), "\"a\\x0ab\""));
}

// Clusters.

TEST_F(KubeconfigTest, AClusterWithoutAServerIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().At("")),
            "kubeconfig DIR/config: cluster \"east\": server: \"\" is not a server's address: it "
            "begins with neither https:// nor http://; write it as https://HOST:PORT");
}

TEST_F(KubeconfigTest, TheAuthorityIsReadFromItsFile) {
  const fs::path file = Write("elsewhere/ca.crt", AnIdentity().certificate);

  EXPECT_EQ(LoadText(AKubeconfig().OnCluster("certificate-authority: " + file.string()))
                .certificate_authority,
            AnIdentity().certificate);
}

TEST_F(KubeconfigTest, TheAuthoritysDataWinsOverItsFile) {
  const Config config =
      LoadText(AKubeconfig()
                   .OnCluster("certificate-authority: missing.crt")
                   .OnCluster("certificate-authority-data: " + Base64(AnIdentity().certificate)));

  EXPECT_EQ(config.certificate_authority, AnIdentity().certificate);
}

TEST_F(KubeconfigTest, AnAuthorityThatIsMissingIsNamedWithItsWholePath) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnCluster("certificate-authority: pki/ca.crt")),
            "kubeconfig DIR/config: cluster \"east\": certificate-authority: there is no file "
            "DIR/pki/ca.crt; check the path");
}

TEST_F(KubeconfigTest, AnAuthorityThatIsNotPemIsRefused) {
  Write("ca.der", std::string("\x30\x82\x01\x00", 4));

  EXPECT_EQ(ComplaintOf(AKubeconfig().OnCluster("certificate-authority: ca.der")),
            "kubeconfig DIR/config: cluster \"east\": certificate-authority DIR/ca.der: not a PEM "
            "certificate; it has to hold -----BEGIN CERTIFICATE----- blocks");
}

TEST_F(KubeconfigTest, ADamagedSecondCertificateIsNotOverlooked) {
  std::string damaged = AnIdentity().certificate;
  damaged.replace(damaged.find('\n') + 5, 4, "!!!!");
  Write("ca.crt", AnIdentity().certificate + damaged);

  EXPECT_TRUE(Says(ComplaintOf(AKubeconfig().OnCluster("certificate-authority: ca.crt")),
                   "blocks, and one after the first is damaged"));
}

class BadBase64Test : public KubeconfigTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BadBase64Test, IsRefused) {
  EXPECT_EQ(
      ComplaintOf(
          AKubeconfig().OnCluster(std::string("certificate-authority-data: ") + GetParam())),
      "kubeconfig DIR/config: cluster \"east\": certificate-authority-data: not base64; write it "
      "with `base64 -w0 FILE`, or name the file itself");
}

INSTANTIATE_TEST_SUITE_P(Texts, BadBase64Test,
                         ::testing::Values("'-----BEGIN CERTIFICATE-----'", "abc", "ab!d", "ab=d",
                                           "a===", "abc-", "'===='"));

TEST_F(KubeconfigTest, Base64BrokenIntoLinesIsRead) {
  const std::string text = Base64(AnIdentity().certificate);

  EXPECT_EQ(LoadText(AKubeconfig().OnCluster("certificate-authority-data: |\n      " +
                                             text.substr(0, 40) + "\n      " + text.substr(40)))
                .certificate_authority,
            AnIdentity().certificate);
}

TEST_F(KubeconfigTest, TheTlsServerNameIsTaken) {
  EXPECT_EQ(LoadText(AKubeconfig().OnCluster("tls-server-name: kubernetes")).tls_server_name,
            "kubernetes");
}

TEST_F(KubeconfigTest, VerificationIsOnUnlessSwitchedOff) {
  EXPECT_FALSE(LoadText(AKubeconfig()).insecure_skip_tls_verify);
  EXPECT_TRUE(
      LoadText(AKubeconfig().OnCluster("insecure-skip-tls-verify: true")).insecure_skip_tls_verify);
}

TEST_F(KubeconfigTest, NoVerificationExcludesAnAuthority) {
  EXPECT_EQ(ComplaintOf(
                AKubeconfig()
                    .OnCluster("insecure-skip-tls-verify: true")
                    .OnCluster("certificate-authority-data: " + Base64(AnIdentity().certificate))),
            "kubeconfig DIR/config: cluster \"east\": insecure-skip-tls-verify and a "
            "certificate-authority exclude each other; remove insecure-skip-tls-verify");
}

TEST_F(KubeconfigTest, ASwitchThatIsNeitherTrueNorFalseIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnCluster("insecure-skip-tls-verify: perhaps")),
            "kubeconfig DIR/config: cluster \"east\", line 8: insecure-skip-tls-verify has to be "
            "true or false");
}

TEST_F(KubeconfigTest, AProxyIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnCluster("proxy-url: http://proxy:3128")),
            "kubeconfig DIR/config: cluster \"east\": proxy-url is not supported: kopp connects "
            "directly; remove it, and give a server that is reached without a proxy");
}

}  // namespace
}  // namespace kopp
