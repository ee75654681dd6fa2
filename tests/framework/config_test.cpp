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

// Where it comes from.

TEST_F(ConfigTest, TheFlagComesBeforeAllElse) {
  BeInAPod();
  variables_["KUBECONFIG"] = Write("other", AKubeconfig().At("https://variable"));
  const fs::path file = Write("flag", AKubeconfig().At("https://flag"));

  const Config config = Load({.kubeconfig = file.string()});

  EXPECT_EQ(config.server, "https://flag");
  EXPECT_EQ(config.source, file);
}

TEST_F(ConfigTest, TheVariableComesBeforeThePod) {
  BeInAPod();
  variables_["KUBECONFIG"] = Write("other", AKubeconfig().At("https://variable"));

  EXPECT_EQ(Load().server, "https://variable");
}

TEST_F(ConfigTest, ThePodComesBeforeTheHomeFolder) {
  BeInAPod();
  Write("home/.kube/config", AKubeconfig());

  EXPECT_EQ(Load().source, "in-cluster");
}

TEST_F(ConfigTest, TheHomeFolderIsTheLastPlace) {
  const fs::path file = Write("home/.kube/config", AKubeconfig().At("https://home"));

  EXPECT_EQ(Load().server, "https://home");
  EXPECT_EQ(Load().source, file);
}

TEST_F(ConfigTest, WithoutHomeThePasswordFileTellsTheHomeFolder) {
  variables_.erase("HOME");
  const passwd* me = ::getpwuid(::getuid());
  if (me == nullptr || fs::exists(fs::path(me->pw_dir) / ".kube/config")) GTEST_SKIP();

  EXPECT_TRUE(Says(Complaint(), std::string("no ") + me->pw_dir + "/.kube/config"));
}

TEST_F(ConfigTest, WithNothingAnywhereTheMessageNamesTheFourPlaces) {
  EXPECT_EQ(Complaint(),
            "no API server configured: no --kubeconfig, $KUBECONFIG is not set, not in a pod "
            "($KUBERNETES_SERVICE_HOST or _PORT is not set), no DIR/home/.kube/config; give "
            "--kubeconfig=FILE");
}

TEST_F(ConfigTest, AFileNamedByTheFlagHasToBeThere) {
  EXPECT_EQ(Complaint({.kubeconfig = (folder_ / "typo").string()}),
            "--kubeconfig: there is no file DIR/typo; check the path");
}

TEST_F(ConfigTest, AFolderInsteadOfAFileIsRefused) {
  EXPECT_EQ(Complaint({.kubeconfig = folder_.string()}),
            "--kubeconfig: cannot read DIR: Is a directory; check the path and its permissions");
}

TEST_F(ConfigTest, AFileThatMayNotBeReadIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const fs::path file = Write("closed", AKubeconfig());
  fs::permissions(file, fs::perms::none);

  EXPECT_EQ(Complaint({.kubeconfig = file.string()}),
            "--kubeconfig: cannot read DIR/closed: Permission denied; check the path and its "
            "permissions");
}

TEST_F(ConfigTest, MasterOverridesTheServerAndKeepsTheCredentials) {
  const std::string file = Write("config", AKubeconfig().OnUser("token: abc"));

  const Config config = Load({.kubeconfig = file, .master = "https://10.0.0.9:6443"});

  EXPECT_EQ(config.server, "https://10.0.0.9:6443");
  EXPECT_EQ(config.token, "abc");
}

TEST_F(ConfigTest, MasterAloneIsEnoughAndHasNoCredentials) {
  const Config config = Load({.master = "http://127.0.0.1:8001"});

  EXPECT_EQ(config.server, "http://127.0.0.1:8001");
  EXPECT_EQ(config.source, "--master");
  EXPECT_TRUE(config.token.empty() && config.token_file.empty() && config.client_key.empty());
}

TEST_F(ConfigTest, AMasterWithoutASchemeIsRefused) {
  EXPECT_EQ(
      Complaint({.master = "localhost:8080"}),
      "--master: \"localhost:8080\" is not a server's address: it begins with neither https:// nor "
      "http://; write it as https://HOST:PORT");
}

TEST_F(ConfigTest, APasswordInAnAddressIsNotRepeated) {
  EXPECT_EQ(Complaint({.master = "https://admin:hunter2@host"}),
            "--master: \"host\" is not a server's address: a user, a query or a fragment has no "
            "place in it; write it as https://HOST:PORT");
}

TEST_F(ConfigTest, AnAddressWhosePathIsNoneIsRefused) {
  EXPECT_TRUE(Says(Complaint({.master = "https://host/k8s/{x}"}), "its path is none of a URI"));
}

TEST_F(ConfigTest, NoCredentialsAreGivenToAServerWithoutTls) {
  const std::string file = Write("config", AKubeconfig().OnUser("token: abc"));

  EXPECT_EQ(Load({.kubeconfig = file, .master = "http://127.0.0.1:8001"}).token, "");
}

// In a pod.

TEST_F(ConfigTest, InAPodTheServiceAccountIsUsed) {
  BeInAPod();

  const Config config = Load();

  EXPECT_EQ(config.server, "https://10.96.0.1:443");
  EXPECT_EQ(config.token_file, folder_ / "account/token");
  EXPECT_EQ(config.token, "");
  EXPECT_EQ(config.certificate_authority, AnIdentity().certificate);
  EXPECT_EQ(config.ns, "operators");
}

TEST_F(ConfigTest, InAPodAnIpv6HostGetsBrackets) {
  BeInAPod();
  variables_["KUBERNETES_SERVICE_HOST"] = "fd00::1";

  EXPECT_EQ(Load().server, "https://[fd00::1]:443");
}

TEST_F(ConfigTest, InAPodWithoutANamespaceFileItIsDefault) {
  BeInAPod();
  fs::remove(folder_ / "account/namespace");

  EXPECT_EQ(Load().ns, "default");
}

TEST_F(ConfigTest, APodWithoutAServiceAccountIsNoSource) {
  BeInAPod();
  fs::remove(folder_ / "account/token");

  EXPECT_TRUE(Says(Complaint(), "no service account in this pod (DIR/account/token)"));
}

TEST_F(ConfigTest, APodWithoutItsAuthorityIsRefused) {
  BeInAPod();
  fs::remove(folder_ / "account/ca.crt");

  EXPECT_EQ(Complaint(), "in-cluster: there is no file DIR/account/ca.crt; check the path");
}

TEST_F(ConfigTest, APodWithAnEmptyTokenIsRefused) {
  BeInAPod();
  Write("account/token", "\n");

  EXPECT_EQ(Complaint(),
            "in-cluster: DIR/account/token: the token is empty; put a bearer token there");
}

TEST_F(ConfigTest, APodWithAnAuthorityThatIsNotPemIsRefused) {
  BeInAPod();
  Write("account/ca.crt", "garbage");

  EXPECT_EQ(Complaint(),
            "in-cluster: DIR/account/ca.crt: not a PEM certificate; it has to hold "
            "-----BEGIN CERTIFICATE----- blocks");
}

TEST_F(ConfigTest, NobodyIsAskedForThePassphraseOfACertificate) {
  BeInAPod();
  Write("account/ca.crt",
        "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n"
        "-----END CERTIFICATE-----\n");

  ::testing::internal::CaptureStderr();
  const std::string complaint = Complaint();

  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(Says(complaint, "not a PEM certificate")) << complaint;
}

// Several files.

TEST_F(ConfigTest, TheFirstFileThatNamesAnEntryWinsItWhole) {
  const fs::path first = Write("a/config", AKubeconfig().At("https://first"));
  const fs::path second =
      Write("b/config", AKubeconfig().At("https://second").OnCluster("tls-server-name: second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  const Config config = Load();

  EXPECT_EQ(config.server, "https://first");
  EXPECT_EQ(config.tls_server_name, "");
}

TEST_F(ConfigTest, ALaterFileAddsWhatTheEarlierOnesDoNotName) {
  const fs::path first = Write("a/config", AKubeconfig());
  const fs::path second =
      Write("b/config", AKubeconfig().Named("prod", "west", "you").At("https://second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  const Config config = Load({.context = "prod"});

  EXPECT_EQ(config.server, "https://second");
  EXPECT_EQ(config.source, second);
}

TEST_F(ConfigTest, TheFirstFileThatSetsTheCurrentContextWins) {
  const fs::path first = Write("a/config", AKubeconfig().WithoutCurrentContext());
  const fs::path second =
      Write("b/config", AKubeconfig().Named("prod", "west", "you").At("https://second"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  EXPECT_EQ(Load().server, "https://second");
}

TEST_F(ConfigTest, MissingAndEmptyNamesArePassedOver) {
  const fs::path file = Write("config", AKubeconfig().At("https://there"));
  variables_["KUBECONFIG"] = ":" + (folder_ / "missing").string() + "::" + file.string() + ":";

  EXPECT_EQ(Load().server, "https://there");
}

TEST_F(ConfigTest, AFileNamedTwiceIsReadOnce) {
  const std::string file = Write("config", AKubeconfig().WithoutCurrentContext());
  variables_["KUBECONFIG"] = file + ":" + file;

  EXPECT_EQ(Complaint(),
            "kubeconfig DIR/config: no current-context; choose a context with --context: it has "
            "\"dev\"");
}

TEST_F(ConfigTest, AnEmptyFileAddsNothing) {
  const fs::path empty = Write("empty", "# nothing yet\n");
  const fs::path file = Write("config", AKubeconfig().At("https://there"));
  variables_["KUBECONFIG"] = empty.string() + ":" + file.string();

  EXPECT_EQ(Load().server, "https://there");
}

TEST_F(ConfigTest, AFileOfTheListThatCannotBeReadIsAnError) {
  variables_["KUBECONFIG"] = folder_.string() + ":" + Write("config", AKubeconfig()).string();

  EXPECT_EQ(Complaint(),
            "$KUBECONFIG: cannot read DIR: Is a directory; check the path and its permissions");
}

TEST_F(ConfigTest, WhenNoFileOfTheListIsThereThePodIsAskedNext) {
  BeInAPod();
  variables_["KUBECONFIG"] = (folder_ / "missing").string();

  EXPECT_EQ(Load().source, "in-cluster");
}

TEST_F(ConfigTest, WhenNoFileOfTheListIsThereTheHomeFolderIsNotAsked) {
  Write("home/.kube/config", AKubeconfig());
  variables_["KUBECONFIG"] = (folder_ / "missing").string();

  EXPECT_EQ(Complaint(),
            "no API server configured: no --kubeconfig, $KUBECONFIG is \"DIR/missing\", where no "
            "file is, not in a pod ($KUBERNETES_SERVICE_HOST or _PORT is not set), ~/.kube/config "
            "does not count beside $KUBECONFIG; give --kubeconfig=FILE");
}

TEST_F(ConfigTest, RelativePathsStartAtTheFolderOfTheirOwnFile) {
  Write("b/pki/ca.crt", AnIdentity().certificate);
  const fs::path first = Write("a/config", AKubeconfig());
  const fs::path second = Write(
      "b/config",
      AKubeconfig().Named("prod", "west", "you").OnCluster("certificate-authority: ./pki/ca.crt"));
  variables_["KUBECONFIG"] = first.string() + ":" + second.string();

  EXPECT_EQ(Load({.context = "prod"}).certificate_authority, AnIdentity().certificate);
}

}  // namespace
}  // namespace kopp
