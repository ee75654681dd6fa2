#include "config_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using KubeconfigUserTest = ConfigFixture;

TEST_F(KubeconfigUserTest, TokenComesFromUser) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().UserField("token: abc.def-g_h")).token, "abc.def-g_h");
}

TEST_F(KubeconfigUserTest, TokenOfDigitsRemainsString) {
  EXPECT_EQ(LoadText(KubeconfigBuilder().UserField("token: 0123")).token, "0123");
}

TEST_F(KubeconfigUserTest, TokenWithLineBreakIsRejectedWithoutShowingIt) {
  const std::string error = LoadErrorOfText(KubeconfigBuilder().UserField("token: \"abc\\ndef\""));

  EXPECT_EQ(error,
            "kubeconfig DIR/config: user \"me\": token: the token contains characters that are not "
            "allowed in "
            "a token (white space, control characters or bytes beyond ASCII); replace it");
}

TEST_F(KubeconfigUserTest, TokenFileIsReturnedAsPathBesideToken) {
  Write("secrets/token", "from-file\n");

  const Config config =
      LoadText(KubeconfigBuilder().UserField("token: abc").UserField("tokenFile: secrets/token"));

  EXPECT_EQ(config.token_file, folder_ / "secrets/token");
  EXPECT_EQ(config.token, "abc");
}

TEST_F(KubeconfigUserTest, MissingTokenFileIsRejected) {
  EXPECT_EQ(
      LoadErrorOfText(KubeconfigBuilder().UserField("tokenFile: token")),
      "kubeconfig DIR/config: user \"me\": tokenFile: the file DIR/token does not exist; check "
      "the path");
}

TEST_F(KubeconfigUserTest, EmptyTokenFileIsRejected) {
  Write("token", "  \n");

  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("tokenFile: token")),
            "kubeconfig DIR/config: user \"me\": tokenFile DIR/token: the token is empty; a "
            "bearer token is required");
}

TEST_F(KubeconfigUserTest, EmptyFieldCountsAsMissing) {
  const Config config = LoadText(KubeconfigBuilder()
                                     .UserField("token: ''")
                                     .UserField("username: \"\"")
                                     .UserField("exec: null")
                                     .UserField("as-groups: []"));

  EXPECT_EQ(config.token, "");
}

TEST_F(KubeconfigUserTest, ClientCertificateIsReadFromFiles) {
  Write("client.crt", TestIdentity().certificate);
  Write("client.key", TestIdentity().key);

  const Config config = LoadText(KubeconfigBuilder()
                                     .UserField("client-certificate: client.crt")
                                     .UserField("client-key: client.key"));

  EXPECT_EQ(config.client_certificate, TestIdentity().certificate);
  EXPECT_EQ(config.client_key, TestIdentity().key);
  EXPECT_EQ(config.client_certificate_file, folder_ / "client.crt");
  EXPECT_EQ(config.client_key_file, folder_ / "client.key");
}

TEST_F(KubeconfigUserTest, ClientCertificateDataHasPrecedenceOverFiles) {
  const Config config =
      LoadText(KubeconfigBuilder()
                   .UserField("client-certificate: missing.crt")
                   .UserField("client-key: missing.key")
                   .UserField("client-certificate-data: " + Base64(TestIdentity().certificate))
                   .UserField("client-key-data: " + Base64(TestIdentity().key)));

  EXPECT_EQ(config.client_certificate, TestIdentity().certificate);
  EXPECT_EQ(config.client_key, TestIdentity().key);
  EXPECT_EQ(config.client_certificate_file, "");
  EXPECT_EQ(config.client_key_file, "");
}

TEST_F(KubeconfigUserTest, ClientCertificateWithoutKeyIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("client-certificate-data: " +
                                                          Base64(TestIdentity().certificate))),
            "kubeconfig DIR/config: user \"me\": client-certificate is set alone; add client-key "
            "or remove it");
}

TEST_F(KubeconfigUserTest, ClientKeyWithoutCertificateIsRejected) {
  EXPECT_EQ(LoadErrorOfText(
                KubeconfigBuilder().UserField("client-key-data: " + Base64(TestIdentity().key))),
            "kubeconfig DIR/config: user \"me\": client-key is set alone; add client-certificate "
            "or remove it");
}

TEST_F(KubeconfigUserTest, ClientKeyThatIsNotPemIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("client-key-data: " + Base64("no key"))),
            "kubeconfig DIR/config: user \"me\": client-key-data: not a PEM private key; it must "
            "contain a -----BEGIN PRIVATE KEY----- block");
}

TEST_F(KubeconfigUserTest, ContentOfAFileInsteadOfItsPathIsRejectedAndNotShown) {
  for (const std::string key : {"client-certificate", "client-key"}) {
    EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField(
                  key + ": |\n      -----BEGIN PRIVATE KEY-----\n      canary")),
              "kubeconfig DIR/config: user \"me\": " + key +
                  " must be the path of a file, but is the content of one; write it to a file");
  }
}

TEST_F(KubeconfigUserTest, ClientKeyWithPassphraseIsRejectedWithoutPrompt) {
  Write("client.key", TestIdentity().encrypted_key);

  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("client-key: client.key")),
            "kubeconfig DIR/config: user \"me\": client-key DIR/client.key: the key has a "
            "passphrase, which is not supported; remove it with `openssl pkey -in KEY -out "
            "NEW`");
}

class UnsupportedCredentialTest : public KubeconfigUserTest,
                                  public ::testing::WithParamInterface<const char*> {};

TEST_P(UnsupportedCredentialTest, ErrorForUnsupportedFieldNamesAlternatives) {
  const std::string key = GetParam();
  const std::string error =
      LoadErrorOfText(KubeconfigBuilder().UserField(key + ": [{command: aws, name: x}]"));

  EXPECT_TRUE(
      error.starts_with("kubeconfig DIR/config: user \"me\": " + key + " is not supported: "))
      << error;
  EXPECT_TRUE(
      error.ends_with("; use a token (`kubectl create token` creates one), a client certificate or "
                      "a credential plugin (exec)"))
      << error;
}

INSTANTIATE_TEST_SUITE_P(Keys, UnsupportedCredentialTest,
                         ::testing::Values("auth-provider", "username", "password"));

}  // namespace
}  // namespace kopp
