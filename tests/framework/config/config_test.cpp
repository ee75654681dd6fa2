#include "config_fixture.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using ConfigTest = ConfigFixture;

// --- the sources of a configuration and their precedence

TEST_F(ConfigTest, KubeconfigFlagHasPrecedenceOverAllOtherSources) {
  SimulatePod();
  variables_["KUBECONFIG"] = Write("other", KubeconfigBuilder().Server("https://variable"));
  const fs::path file = Write("flag", KubeconfigBuilder().Server("https://flag"));

  const Config config = Load({.kubeconfig = file.string()});

  EXPECT_EQ(config.server, "https://flag");
  EXPECT_EQ(config.source, file);
}

TEST_F(ConfigTest, KubeconfigVariableHasPrecedenceOverServiceAccount) {
  SimulatePod();
  variables_["KUBECONFIG"] = Write("other", KubeconfigBuilder().Server("https://variable"));

  EXPECT_EQ(Load().server, "https://variable");
}

TEST_F(ConfigTest, ServiceAccountHasPrecedenceOverHomeKubeconfig) {
  SimulatePod();
  Write("home/.kube/config", KubeconfigBuilder());

  EXPECT_EQ(Load().source, "in-cluster");
}

TEST_F(ConfigTest, HomeKubeconfigIsUsedIfThereIsNoOtherSource) {
  const fs::path file = Write("home/.kube/config", KubeconfigBuilder().Server("https://home"));

  EXPECT_EQ(Load().server, "https://home");
  EXPECT_EQ(Load().source, file);
}

TEST_F(ConfigTest, HomeFolderComesFromPasswdIfHomeIsNotSet) {
  variables_.erase("HOME");
  const passwd* me = ::getpwuid(::getuid());
  if (me == nullptr || fs::exists(fs::path(me->pw_dir) / ".kube/config")) GTEST_SKIP();

  EXPECT_TRUE(Contains(LoadError(), std::string("no ") + me->pw_dir + "/.kube/config"));
}

TEST_F(ConfigTest, ErrorNamesAllFourSourcesIfNoneIsConfigured) {
  EXPECT_EQ(LoadError(),
            "no API server configured: no --kubeconfig, $KUBECONFIG is not set, not in a pod "
            "($KUBERNETES_SERVICE_HOST or _PORT is not set), no DIR/home/.kube/config; set "
            "--kubeconfig=FILE");
}

TEST_F(ConfigTest, MissingFileOfKubeconfigFlagIsAnError) {
  EXPECT_EQ(LoadError({.kubeconfig = (folder_ / "typo").string()}),
            "--kubeconfig: the file DIR/typo does not exist; check the path");
}

TEST_F(ConfigTest, ContentInsteadOfThePathOfAKubeconfigIsRejectedAndNotShown) {
  const std::string advice =
      " must be the path of a file, but is the content of one; write it to a file";
  const std::string token(300, 'c');  // too long for the name of a file
  for (const std::string& content :
       {std::string(KubeconfigBuilder().UserField("token: " + token)),
        "{\"token\": \"" + token + '"', std::string("apiVersion: v1\nusers: canary")}) {
    EXPECT_EQ(LoadError({.kubeconfig = content}), "--kubeconfig" + advice);
    variables_["KUBECONFIG"] = content;
    EXPECT_EQ(LoadError(), "$KUBECONFIG" + advice);
  }
}

TEST_F(ConfigTest, FolderInsteadOfKubeconfigFileIsRejected) {
  EXPECT_EQ(LoadError({.kubeconfig = folder_.string()}),
            "--kubeconfig: cannot read DIR: Is a directory; check the path and its permissions");
}

TEST_F(ConfigTest, UnreadableKubeconfigFileIsRejected) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const fs::path file = Write("closed", KubeconfigBuilder());
  fs::permissions(file, fs::perms::none);

  EXPECT_EQ(LoadError({.kubeconfig = file.string()}),
            "--kubeconfig: cannot read DIR/closed: Permission denied; check the path and its "
            "permissions");
}

TEST_F(ConfigTest, MasterFlagOverridesServerAndKeepsCredentials) {
  const std::string file = Write("config", KubeconfigBuilder().UserField("token: abc"));

  const Config config = Load({.kubeconfig = file, .master = "https://10.0.0.9:6443"});

  EXPECT_EQ(config.server, "https://10.0.0.9:6443");
  EXPECT_EQ(config.token, "abc");
}

TEST_F(ConfigTest, MasterFlagAloneYieldsConfigWithoutCredentials) {
  const Config config = Load({.master = "http://127.0.0.1:8001"});

  EXPECT_EQ(config.server, "http://127.0.0.1:8001");
  EXPECT_EQ(config.source, "--master");
  EXPECT_TRUE(config.token.empty() && config.token_file.empty() && config.client_key.empty());
}

TEST_F(ConfigTest, MasterFlagWithoutSchemeIsRejected) {
  EXPECT_EQ(
      LoadError({.master = "localhost:8080"}),
      "--master: \"localhost:8080\" is not a valid server address: it does not start with https:// "
      "or http://; write it as https://HOST:PORT");
}

TEST_F(ConfigTest, ErrorDoesNotRepeatPasswordOfServerUrl) {
  EXPECT_EQ(LoadError({.master = "https://admin:hunter2@host"}),
            "--master: \"host\" is not a valid server address: it must not contain a user, a query "
            "or a fragment; write it as https://HOST:PORT");
}

TEST_F(ConfigTest, ServerUrlWithInvalidPathIsRejected) {
  EXPECT_TRUE(
      Contains(LoadError({.master = "https://host/k8s/{x}"}), "its path is not a valid URI path"));
}

TEST_F(ConfigTest, CredentialsAreNotUsedForPlainHttpServer) {
  const std::string file = Write("config", KubeconfigBuilder().UserField("token: abc"));

  EXPECT_EQ(Load({.kubeconfig = file, .master = "http://127.0.0.1:8001"}).token, "");
}

// --- the service account of a pod

TEST_F(ConfigTest, ServiceAccountIsUsedInPod) {
  SimulatePod();

  const Config config = Load();

  EXPECT_EQ(config.server, "https://10.96.0.1:443");
  EXPECT_EQ(config.token_file, folder_ / "account/token");
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.certificate_authority, TestIdentity().certificate);
  EXPECT_EQ(config.certificate_authority_file, folder_ / "account/ca.crt");
  EXPECT_EQ(config.ns, "operators");
}

TEST_F(ConfigTest, Ipv6ServiceHostGetsBracketsInPod) {
  SimulatePod();
  variables_["KUBERNETES_SERVICE_HOST"] = "fd00::1";

  EXPECT_EQ(Load().server, "https://[fd00::1]:443");
}

TEST_F(ConfigTest, NamespaceIsDefaultInPodWithoutNamespaceFile) {
  SimulatePod();
  fs::remove(folder_ / "account/namespace");

  EXPECT_EQ(Load().ns, "default");
}

TEST_F(ConfigTest, PodWithoutServiceAccountTokenIsSkipped) {
  SimulatePod();
  fs::remove(folder_ / "account/token");

  EXPECT_TRUE(Contains(LoadError(), "no service account in this pod (DIR/account/token)"));
}

TEST_F(ConfigTest, PodWithoutCaCertificateFileIsRejected) {
  SimulatePod();
  fs::remove(folder_ / "account/ca.crt");

  EXPECT_EQ(LoadError(), "in-cluster: the file DIR/account/ca.crt does not exist; check the path");
}

TEST_F(ConfigTest, PodWithEmptyTokenIsRejected) {
  SimulatePod();
  Write("account/token", "\n");

  EXPECT_EQ(LoadError(),
            "in-cluster: DIR/account/token: the token is empty; a bearer token is required");
}

TEST_F(ConfigTest, PodWithInvalidCaCertificateIsRejected) {
  SimulatePod();
  Write("account/ca.crt", "garbage");

  EXPECT_EQ(LoadError(),
            "in-cluster: DIR/account/ca.crt: not a PEM certificate; it must contain valid "
            "-----BEGIN CERTIFICATE----- blocks");
}

TEST_F(ConfigTest, EncryptedCertificateIsRejectedWithoutPassphrasePrompt) {
  SimulatePod();
  Write("account/ca.crt",
        "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n"
        "-----END CERTIFICATE-----\n");

  ::testing::internal::CaptureStderr();
  const std::string error = LoadError();

  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(Contains(error, "not a PEM certificate")) << error;
}

// --- several files in $KUBECONFIG

TEST_F(ConfigTest, FirstFileThatDefinesAnEntryProvidesTheWholeEntry) {
  const fs::path first = Write("a/config", KubeconfigBuilder().Server("https://first"));
  const fs::path second =
      Write("b/config",
            KubeconfigBuilder().Server("https://second").ClusterField("tls-server-name: second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  const Config config = Load();

  EXPECT_EQ(config.server, "https://first");
  EXPECT_EQ(config.tls_server_name, "");
}

TEST_F(ConfigTest, LaterFileAddsEntriesThatEarlierFilesDoNotDefine) {
  const fs::path first = Write("a/config", KubeconfigBuilder());
  const fs::path second = Write(
      "b/config", KubeconfigBuilder().WithNames("prod", "west", "you").Server("https://second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  const Config config = Load({.context = "prod"});

  EXPECT_EQ(config.server, "https://second");
  EXPECT_EQ(config.source, second);
}

TEST_F(ConfigTest, CurrentContextComesFromTheFirstFileThatSetsIt) {
  const fs::path first = Write("a/config", KubeconfigBuilder().WithoutCurrentContext());
  const fs::path second = Write(
      "b/config", KubeconfigBuilder().WithNames("prod", "west", "you").Server("https://second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  EXPECT_EQ(Load().server, "https://second");
}

TEST_F(ConfigTest, MissingAndEmptyFileNamesInListAreSkipped) {
  const fs::path file = Write("config", KubeconfigBuilder().Server("https://there"));
  variables_["KUBECONFIG"] = ":" + (folder_ / "missing").string() + "::" + file.string() + ":";

  EXPECT_EQ(Load().server, "https://there");
}

TEST_F(ConfigTest, FileListedTwiceIsReadOnce) {
  const std::string file = Write("config", KubeconfigBuilder().WithoutCurrentContext());
  variables_["KUBECONFIG"] = file + ":" + file;

  EXPECT_EQ(LoadError(),
            "kubeconfig DIR/config: no current-context; choose an existing context with --context: "
            "\"dev\"");
}

TEST_F(ConfigTest, EmptyKubeconfigFileIsAllowed) {
  const fs::path empty = Write("empty", "# nothing yet\n");
  const fs::path file = Write("config", KubeconfigBuilder().Server("https://there"));
  variables_["KUBECONFIG"] = empty.string() + ":" + file.string();

  EXPECT_EQ(Load().server, "https://there");
}

TEST_F(ConfigTest, UnreadableFileInListIsAnError) {
  variables_["KUBECONFIG"] = folder_.string() + ":" + Write("config", KubeconfigBuilder()).string();

  EXPECT_EQ(LoadError(),
            "$KUBECONFIG: cannot read DIR: Is a directory; check the path and its permissions");
}

TEST_F(ConfigTest, ServiceAccountIsUsedIfNoFileInListExists) {
  SimulatePod();
  variables_["KUBECONFIG"] = (folder_ / "missing").string();

  EXPECT_EQ(Load().source, "in-cluster");
}

TEST_F(ConfigTest, HomeKubeconfigIsIgnoredIfNoFileInListExists) {
  Write("home/.kube/config", KubeconfigBuilder());
  variables_["KUBECONFIG"] = (folder_ / "missing").string();

  EXPECT_EQ(LoadError(),
            "no API server configured: no --kubeconfig, no file of $KUBECONFIG "
            "(\"DIR/missing\") exists, not in a pod ($KUBERNETES_SERVICE_HOST or _PORT is not "
            "set), ~/.kube/config "
            "is ignored because $KUBECONFIG is set; set --kubeconfig=FILE");
}

TEST_F(ConfigTest, RelativePathsReferToFolderOfTheirKubeconfigFile) {
  Write("b/pki/ca.crt", TestIdentity().certificate);
  const fs::path first = Write("a/config", KubeconfigBuilder());
  const fs::path second =
      Write("b/config", KubeconfigBuilder()
                            .WithNames("prod", "west", "you")
                            .ClusterField("certificate-authority: ./pki/ca.crt"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  EXPECT_EQ(Load({.context = "prod"}).certificate_authority, TestIdentity().certificate);
}

}  // namespace
}  // namespace kopp
