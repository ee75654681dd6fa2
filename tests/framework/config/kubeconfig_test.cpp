#include "config/config_input.hpp"
#include "config_fixture.hpp"
#include "net/endpoint.hpp"
#include "net/proxy.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigTest = ConfigFixture;

// --- contexts

TEST_F(KubeconfigTest, NamespaceComesFromContext) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().ContextField("namespace: web")).ns, "web");
}

TEST_F(KubeconfigTest, NamespaceIsDefaultIfContextHasNone) {
  EXPECT_EQ(LoadText(KubeconfigBuilder()).ns, "default");
}

TEST_F(KubeconfigTest, ErrorForUnknownContextListsExistingContexts) {
  const std::string file = Write("config", KubeconfigBuilder());

  EXPECT_EQ(
      LoadError({.kubeconfig = file, .context = "prod"}),
      "kubeconfig DIR/config: context \"prod\" does not exist; choose an existing context with "
      "--context: \"dev\"");
}

TEST_F(KubeconfigTest, UnknownCurrentContextIsRejectedIfNoContextsAreDefined) {
  EXPECT_EQ(
      LoadErrorOfText("current-context: gone\n"),
      "kubeconfig DIR/config: context \"gone\" does not exist, and no contexts are defined; add a "
      "context");
}

TEST_F(KubeconfigTest, ErrorListsAtMostTenContexts) {
  std::string text = "contexts:\n";
  for (int i = 100; i < 112; ++i) text += "- {name: c" + std::to_string(i) + ", context: {}}\n";

  EXPECT_TRUE(Contains(LoadErrorOfText(text), "\"c109\" and 2 more"));
}

TEST_F(KubeconfigTest, ErrorForUnknownClusterListsExistingClusters) {
  EXPECT_EQ(
      LoadErrorOfText("current-context: dev\n"
                      "clusters: [{name: west, cluster: {server: 'https://w'}}]\n"
                      "contexts: [{name: dev, context: {cluster: east}}]\n"),
      "kubeconfig DIR/config: context \"dev\": its cluster \"east\" is not defined in kubeconfig "
      "DIR/config, which defines the clusters \"west\"; correct the context, or add the cluster");
}

TEST_F(KubeconfigTest, ContextWithoutClusterIsRejected) {
  EXPECT_EQ(LoadErrorOfText("current-context: dev\ncontexts: [{name: dev, context: {}}]\n"),
            "kubeconfig DIR/config: context \"dev\": the field \"cluster\" is missing; add "
            "\"cluster: NAME\"");
}

TEST_F(KubeconfigTest, UnknownUserIsRejectedIfNoUsersAreDefined) {
  EXPECT_EQ(LoadErrorOfText("current-context: dev\n"
                            "clusters: [{name: east, cluster: {server: 'https://e'}}]\n"
                            "contexts: [{name: dev, context: {cluster: east, user: me}}]\n"),
            "kubeconfig DIR/config: context \"dev\": its user \"me\" is not defined in kubeconfig "
            "DIR/config, which defines no users; correct the context, or add the user");
}

TEST_F(KubeconfigTest, ContextWithoutUserIsAnonymous) {
  const Config config = LoadText(
      "current-context: dev\n"
      "clusters: [{name: east, cluster: {server: 'https://e'}}]\n"
      "contexts: [{name: dev, context: {cluster: east}}]\n");

  EXPECT_EQ(config.server, "https://e");
  EXPECT_EQ(config.token, "");
}

TEST_F(KubeconfigTest, LineBreakInContextNameIsEscapedInError) {
  const std::string file = Write("config", KubeconfigBuilder());

  EXPECT_TRUE(Contains(LoadError({.kubeconfig = file, .context = "a\nb"}), "\"a\\x0ab\""));
}

// --- clusters

TEST_F(KubeconfigTest, ClusterWithEmptyServerIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().Server("")),
            "kubeconfig DIR/config: cluster \"east\": server is missing; add \"server: "
            "https://HOST:PORT\"");
}

TEST_F(KubeconfigTest, CertificateAuthorityIsReadFromFile) {
  const fs::path file = Write("elsewhere/ca.crt", TestIdentity().certificate);

  EXPECT_EQ(LoadText(KubeconfigBuilder().ClusterField("certificate-authority: " + file.string()))
                .certificate_authority,
            TestIdentity().certificate);
}

TEST_F(KubeconfigTest, CertificateAuthorityDataHasPrecedenceOverFile) {
  const Config config = LoadText(
      KubeconfigBuilder()
          .ClusterField("certificate-authority: missing.crt")
          .ClusterField("certificate-authority-data: " + Base64(TestIdentity().certificate)));

  EXPECT_EQ(config.certificate_authority, TestIdentity().certificate);
}

TEST_F(KubeconfigTest, ErrorForMissingCertificateAuthorityNamesAbsolutePath) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField("certificate-authority: pki/ca.crt")),
            "kubeconfig DIR/config: cluster \"east\": certificate-authority: the file "
            "DIR/pki/ca.crt does not exist; check the path");
}

TEST_F(KubeconfigTest, CertificateAuthorityThatIsNotPemIsRejected) {
  Write("ca.der", std::string("\x30\x82\x01\x00", 4));

  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField("certificate-authority: ca.der")),
            "kubeconfig DIR/config: cluster \"east\": certificate-authority DIR/ca.der: not a PEM "
            "certificate; it must contain valid -----BEGIN CERTIFICATE----- blocks");
}

TEST_F(KubeconfigTest, DamagedSecondCertificateIsRejected) {
  std::string damaged = TestIdentity().certificate;
  damaged.replace(damaged.find('\n') + 5, 4, "!!!!");
  Write("ca.crt", TestIdentity().certificate + damaged);

  EXPECT_TRUE(
      Contains(LoadErrorOfText(KubeconfigBuilder().ClusterField("certificate-authority: ca.crt")),
               "certificate 2 is damaged; replace it, or remove it"));
}

class InvalidBase64Test : public KubeconfigTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(InvalidBase64Test, CertificateAuthorityDataIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField(
                std::string("certificate-authority-data: ") + GetParam())),
            "kubeconfig DIR/config: cluster \"east\": certificate-authority-data: invalid Base64; "
            "create it "
            "with `base64 -w0 FILE`, or reference the file itself");
}

INSTANTIATE_TEST_SUITE_P(InvalidValues, InvalidBase64Test,
                         ::testing::Values("'-----BEGIN CERTIFICATE-----'", "abc", "ab!d", "ab=d",
                                           "a===", "abc-", "'===='"));

TEST_F(KubeconfigTest, Base64WithLineBreaksIsAccepted) {
  const std::string text = Base64(TestIdentity().certificate);

  EXPECT_EQ(
      LoadText(KubeconfigBuilder().ClusterField("certificate-authority-data: |\n      " +
                                                text.substr(0, 40) + "\n      " + text.substr(40)))
          .certificate_authority,
      TestIdentity().certificate);
}

TEST_F(KubeconfigTest, TlsServerNameComesFromCluster) {
  EXPECT_EQ(
      LoadText(KubeconfigBuilder().ClusterField("tls-server-name: kubernetes")).tls_server_name,
      "kubernetes");
}

TEST_F(KubeconfigTest, TlsIsVerifiedUnlessInsecureSkipTlsVerifyIsTrue) {
  EXPECT_FALSE(LoadText(KubeconfigBuilder()).insecure_skip_tls_verify);
  EXPECT_TRUE(LoadText(KubeconfigBuilder().ClusterField("insecure-skip-tls-verify: true"))
                  .insecure_skip_tls_verify);
}

TEST_F(KubeconfigTest, InsecureSkipTlsVerifyWithCertificateAuthorityIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder()
                                .ClusterField("insecure-skip-tls-verify: true")
                                .ClusterField("certificate-authority-data: " +
                                              Base64(TestIdentity().certificate))),
            "kubeconfig DIR/config: cluster \"east\": insecure-skip-tls-verify and a "
            "certificate-authority are mutually exclusive; remove insecure-skip-tls-verify");
}

TEST_F(KubeconfigTest, BooleanFieldMayHaveTheFormsOfYaml11) {
  for (const char* text : {"True", "yes", "ON", "y"}) {
    EXPECT_TRUE(
        LoadText(KubeconfigBuilder().ClusterField("insecure-skip-tls-verify: " + std::string(text)))
            .insecure_skip_tls_verify)
        << text;
  }
  EXPECT_FALSE(LoadText(KubeconfigBuilder().ClusterField("insecure-skip-tls-verify: No"))
                   .insecure_skip_tls_verify);
}

TEST_F(KubeconfigTest, SchemeOfAUrlMayHaveCapitals) {
  EXPECT_EQ(detail::ParseEndpoint("HTTPS://host").port, 443);
  EXPECT_FALSE(detail::ParseEndpoint("Http://host").tls);
  EXPECT_TRUE(detail::IsTls("HttpS://host"));
  EXPECT_EQ(detail::ParseProxy("SOCKS5://proxy:1080", "").type, detail::Proxy::Type::kSocks5);
}

TEST_F(KubeconfigTest, BooleanFieldThatIsNeitherTrueNorFalseIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField("insecure-skip-tls-verify: perhaps")),
            "kubeconfig DIR/config: cluster \"east\", line 8: insecure-skip-tls-verify must be "
            "true or false");
}

TEST_F(KubeconfigTest, ProxyUrlComesFromCluster) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().ClusterField("proxy-url: http://proxy:3128")).proxy_url,
            "http://proxy:3128");
}

TEST_F(KubeconfigTest, ProxyUrlMayBeThatOfASocks5Proxy) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().ClusterField("proxy-url: socks5://proxy")).proxy_url,
            "socks5://proxy");
}

TEST_F(KubeconfigTest, ProxyUrlMayBeThatOfAnHttpsProxy) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().ClusterField("proxy-url: https://proxy:3129")).proxy_url,
            "https://proxy:3129");
}

TEST_F(KubeconfigTest, ProxyUrlWithUnsupportedSchemeIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField("proxy-url: ftp://proxy:1080")),
            "kubeconfig DIR/config: cluster \"east\": proxy-url: the proxy URL is not valid: it "
            "does not start with http://, https://, socks5:// or socks5h://; write it as "
            "http://[USER:PASSWORD@]HOST:PORT, with special characters of the password "
            "percent-encoded");
}

TEST_F(KubeconfigTest, ErrorForInvalidProxyUrlDoesNotRepeatIt) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().ClusterField("proxy-url: http://me:hunter2")),
            "kubeconfig DIR/config: cluster \"east\": proxy-url: the proxy URL is not valid: its "
            "host or port is missing or not valid; write it as http://[USER:PASSWORD@]HOST:PORT, "
            "with special characters of the password "
            "percent-encoded");
}

}  // namespace
}  // namespace kopp
