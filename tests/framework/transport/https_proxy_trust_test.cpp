#include "https_proxy_fixture.hpp"
#include "support/plugin_script.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests the verification of an https:// proxy. The suite is instantiated in https_proxy_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_P(HttpsProxyTest, ProxyOfAnUnknownAuthorityIsRejectedBeforeThePasswordIsSent) {
  RawServer proxy({InsideTunnel({})}, ProxyAndServer());
  TrustOnSystem(CertificateAuthority());

  const auto failure = FailureOfCall(
      *TransportThrough(proxy, kServerBehindHttpsProxy, "me:hunter2@"), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, HasSubstr("the certificate of the proxy was rejected: "));
  EXPECT_THAT(failure.message,
              HasSubstr("; certificate-authority is not for the proxy: add the CA of the proxy to "
                        "the CAs of the system, or to the file that $SSL_CERT_FILE names"));
  EXPECT_THAT(failure.message, Not(HasSubstr("hunter2")));
  EXPECT_THAT(proxy.Requests(), IsEmpty());
}

TEST_P(HttpsProxyTest, AuthorityOfTheClusterIsNotTrustedForTheProxy) {
  RawServer proxy({InsideTunnel({})}, ProxyAndServer());
  config_.certificate_authority = proxy_authority_.certificate();
  TrustOnSystem(authority_);

  EXPECT_EQ(FailureThrough(proxy).kind, Kind::kUntrusted);
  EXPECT_THAT(proxy.Requests(), IsEmpty());
}

TEST_P(HttpsProxyTest, AuthoritiesOfTheSystemAreNotTrustedForTheServer) {
  auto tls = ProxyAndServer();
  tls.identity = proxy_authority_.Issue({.subject_alt_names = "DNS:api.invalid"});
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, tls);

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, StartsWith("the server certificate was rejected: "));
  EXPECT_THAT(failure.message, HasSubstr("certificate-authority in the configuration"));
}

TEST_P(HttpsProxyTest, InsecureSkipTlsVerifyDoesNotApplyToTheProxy) {
  RawServer proxy({InsideTunnel({})}, ProxyAndServer());
  config_.certificate_authority.clear();
  config_.insecure_skip_tls_verify = true;
  TrustOnSystem(CertificateAuthority());

  EXPECT_EQ(FailureThrough(proxy).kind, Kind::kUntrusted);
}

TEST_P(HttpsProxyTest, ProxyCertificateForAnotherNameIsRejected) {
  auto tls = ProxyAndServer();
  tls.proxy = proxy_authority_.Issue({.subject_alt_names = "DNS:api.invalid"});
  RawServer proxy({InsideTunnel({})}, tls);

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, StartsWith("the certificate of the proxy was rejected: "));
  EXPECT_THAT(failure.message, HasSubstr("the certificate is valid for api.invalid; correct the "
                                         "host in the URL of the proxy"));
}

TEST_P(HttpsProxyTest, ExpiredCertificateOfTheProxyIsRejected) {
  auto tls = ProxyAndServer();
  tls.proxy = proxy_authority_.Issue({.subject_alt_names = "IP:127.0.0.1", .expired = true});
  RawServer proxy({InsideTunnel({})}, tls);

  EXPECT_THAT(FailureThrough(proxy).message,
              HasSubstr("certificate has expired; renew the certificate of the proxy"));
}

TEST_P(HttpsProxyTest, TlsServerNameDoesNotApplyToTheProxy) {
  auto tls = ProxyAndServer();
  tls.identity = authority_.Issue({.subject_alt_names = "DNS:kubernetes"});
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, "hello"))})}, tls);
  config_.tls_server_name = "kubernetes";

  EXPECT_EQ(TransportThrough(proxy)->Call({.target = "/"}).body, "hello");
}

TEST_P(HttpsProxyTest, ClientCertificateIsPresentedToTheServerButNotToTheProxy) {
  const CertificateAndKey own = authority_.Issue({.common_name = "system:admin"});
  config_.client_certificate = own.certificate;
  config_.client_key = own.key;
  auto tls = ProxyAndServer();
  tls.client_authority = authority_.certificate();
  RawServer server({InsideTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, tls);
  auto demanding = ProxyOnly();
  demanding.client_authority = authority_.certificate();
  RawServer proxy({{ReadRequest(), Close()}}, demanding);

  static_cast<void>(TransportThrough(server)->Call({.target = "/"}));
  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(server.Requests().at(1).client, "system:admin");
  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, StartsWith("the proxy requires a client certificate, or rejected "));
  EXPECT_THAT(failure.message, HasSubstr("kopp presents no certificate to a proxy"));
}

TEST_P(HttpsProxyTest, CredentialPluginDoesNotRunAgainAfterTheProxyWasRejected) {
  RawServer proxy({InsideTunnel({})}, ProxyAndServer());
  TrustOnSystem(CertificateAuthority());
  const PluginScript plugin(PrintToken("abc"));
  config_.exec = {.api_version = "client.authentication.k8s.io/v1",
                  .command = plugin.path().string()};
  const auto transport = TransportThrough(proxy);

  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(FailureOfCall(*transport, {.target = "/"}).kind, Kind::kUntrusted);
  }

  EXPECT_EQ(plugin.Runs(), 1);
}

}  // namespace
}  // namespace kopp::testing
