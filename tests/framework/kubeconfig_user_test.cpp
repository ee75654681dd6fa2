#include "config_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigUserTest = ConfigFixture;

TEST_F(KubeconfigUserTest, ATokenIsTaken) {
  EXPECT_EQ(LoadText(AKubeconfig().OnUser("token: abc.def-g_h")).token, "abc.def-g_h");
}

TEST_F(KubeconfigUserTest, ATokenOfDigitsStaysText) {
  EXPECT_EQ(LoadText(AKubeconfig().OnUser("token: 0123")).token, "0123");
}

TEST_F(KubeconfigUserTest, ATokenWithALineEndInItIsRefusedWithoutShowingIt) {
  const std::string complaint = ComplaintOf(AKubeconfig().OnUser("token: \"abc\\ndef\""));

  EXPECT_EQ(complaint,
            "kubeconfig DIR/config: user \"me\": token: the token has characters that no token has "
            "(a space, a line end or a byte beyond ASCII); write it anew");
}

TEST_F(KubeconfigUserTest, ATokenFileIsKeptAsAPathBesideTheToken) {
  Write("secrets/token", "from-file\n");

  const Config config =
      LoadText(AKubeconfig().OnUser("token: abc").OnUser("tokenFile: secrets/token"));

  EXPECT_EQ(config.token_file, folder_ / "secrets/token");
  EXPECT_EQ(config.token, "abc");
}

TEST_F(KubeconfigUserTest, ATokenFileThatIsMissingIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("tokenFile: token")),
            "kubeconfig DIR/config: user \"me\": tokenFile: there is no file DIR/token; check the "
            "path");
}

TEST_F(KubeconfigUserTest, ATokenFileThatIsEmptyIsRefused) {
  Write("token", "  \n");

  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("tokenFile: token")),
            "kubeconfig DIR/config: user \"me\": tokenFile DIR/token: the token is empty; put a "
            "bearer token there");
}

TEST_F(KubeconfigUserTest, AnEmptyFieldSaysAsLittleAsNone) {
  const Config config = LoadText(AKubeconfig()
                                     .OnUser("token: ''")
                                     .OnUser("username: \"\"")
                                     .OnUser("exec: null")
                                     .OnUser("as-groups: []"));

  EXPECT_EQ(config.token, "");
}

TEST_F(KubeconfigUserTest, AClientCertificateIsReadFromItsFiles) {
  Write("client.crt", AnIdentity().certificate);
  Write("client.key", AnIdentity().key);

  const Config config = LoadText(
      AKubeconfig().OnUser("client-certificate: client.crt").OnUser("client-key: client.key"));

  EXPECT_EQ(config.client_certificate, AnIdentity().certificate);
  EXPECT_EQ(config.client_key, AnIdentity().key);
}

TEST_F(KubeconfigUserTest, AClientCertificateIsReadFromItsData) {
  const Config config =
      LoadText(AKubeconfig()
                   .OnUser("client-certificate: missing.crt")
                   .OnUser("client-key: missing.key")
                   .OnUser("client-certificate-data: " + Base64(AnIdentity().certificate))
                   .OnUser("client-key-data: " + Base64(AnIdentity().key)));

  EXPECT_EQ(config.client_certificate, AnIdentity().certificate);
  EXPECT_EQ(config.client_key, AnIdentity().key);
}

TEST_F(KubeconfigUserTest, ACertificateWithoutItsKeyIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("client-certificate-data: " +
                                             Base64(AnIdentity().certificate))),
            "kubeconfig DIR/config: user \"me\": client-certificate stands alone; add client-key "
            "or remove it");
}

TEST_F(KubeconfigUserTest, AKeyWithoutItsCertificateIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("client-key-data: " + Base64(AnIdentity().key))),
            "kubeconfig DIR/config: user \"me\": client-key stands alone; add client-certificate "
            "or remove it");
}

TEST_F(KubeconfigUserTest, AKeyThatIsNotPemIsRefused) {
  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("client-key-data: " + Base64("no key"))),
            "kubeconfig DIR/config: user \"me\": client-key-data: not a PEM private key; it has to "
            "hold a -----BEGIN PRIVATE KEY----- block");
}

TEST_F(KubeconfigUserTest, AKeyWithAPassphraseIsRefusedAndNobodyIsAskedForIt) {
  Write("client.key", AnIdentity().locked_key);

  EXPECT_EQ(ComplaintOf(AKubeconfig().OnUser("client-key: client.key")),
            "kubeconfig DIR/config: user \"me\": client-key DIR/client.key: the key has a "
            "passphrase, which nobody can type here; remove it with `openssl pkey -in KEY -out "
            "NEW`");
}

class UnsupportedCredentialTest : public KubeconfigUserTest,
                                  public ::testing::WithParamInterface<const char*> {};

TEST_P(UnsupportedCredentialTest, IsRefusedWithWhatToUseInstead) {
  const std::string key = GetParam();
  const std::string complaint =
      ComplaintOf(AKubeconfig().OnUser(key + ": [{command: aws, name: x}]"));

  EXPECT_TRUE(
      complaint.starts_with("kubeconfig DIR/config: user \"me\": " + key + " is not supported: "))
      << complaint;
  EXPECT_TRUE(complaint.ends_with(
      "; use a token (`kubectl create token` makes one) or a client certificate"))
      << complaint;
}

INSTANTIATE_TEST_SUITE_P(Keys, UnsupportedCredentialTest,
                         ::testing::Values("exec", "auth-provider", "username", "password", "as",
                                           "as-uid", "as-groups", "as-user-extra"));

}  // namespace
}  // namespace kopp
