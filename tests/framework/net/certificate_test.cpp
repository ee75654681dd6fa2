#include "net/certificate.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <kopp/http_server.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

TEST(CertificateTest, SelfSignedCertificateServesHttpsOnLoopback) {
  const auto certificate = detail::SelfSignedCertificate();
  const HttpServer server(
      {.address = "127.0.0.1:0", .tls = HttpServerTls{certificate.chain, certificate.key}},
      {{"/", [](const HttpRequest&) { return HttpResponse{.body = "hello"}; }}});
  Config config;
  config.server = "https://" + server.address();
  config.certificate_authority = certificate.chain;

  EXPECT_EQ(MakeTransport(config)->Call({.target = "/"}).body, "hello");
}

TEST(CertificateTest, EachCertificateHasAnotherSerialNumberOf127Bits) {
  const detail::Key key = detail::NewKey();
  const detail::Certificate first = detail::DraftCertificate(key.get(), 1h);
  const detail::Certificate second = detail::DraftCertificate(key.get(), 1h);
  const ASN1_INTEGER* serial = X509_get0_serialNumber(first.get());

  EXPECT_NE(ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(second.get())), 0);
  EXPECT_EQ(ASN1_STRING_length(serial), 16);
}

TEST(CertificateTest, ACertificateIsValidFromAnHourBeforeItsCreation) {
  const WallTime now{1'700'000'000s};
  const detail::Key key = detail::NewKey();
  const auto validity = detail::ValidityOf(detail::DraftCertificate(key.get(), 24h, now).get());

  EXPECT_EQ(validity.begin, now - 1h);
  EXPECT_EQ(validity.end, now + 24h);
}

TEST(CertificateTest, VerificationUsesTheTrustedCertificatesTheHostAndTheTime) {
  const auto served = detail::SelfSignedCertificate();
  const auto other = detail::SelfSignedCertificate();
  const WallTime now = Clock::Real().WallNow();
  const auto error = [&](const std::string& trusted, const std::string& host, WallTime time) {
    return detail::FindVerifyError(served.chain, trusted, host, time);
  };

  EXPECT_EQ(error(served.chain, "localhost", now), "");
  EXPECT_EQ(error(other.chain + served.chain, "localhost", now), "");
  EXPECT_EQ(error(other.chain, "localhost", now), "self-signed certificate");
  EXPECT_EQ(error("", "localhost", now), "self-signed certificate");
  EXPECT_EQ(error(served.chain, "example.com", now), "hostname mismatch");
  EXPECT_EQ(error(served.chain, "localhost", now + 24h * 365 * 20), "certificate has expired");
  EXPECT_EQ(error(served.chain, "localhost", now - 2h), "certificate is not yet valid");
  EXPECT_EQ(detail::FindVerifyError("garbage", served.chain, "localhost", now),
            "there is no certificate in PEM");
}

TEST(CertificateTest, TwoSelfSignedCertificatesHaveDifferentKeys) {
  EXPECT_NE(detail::SelfSignedCertificate().key, detail::SelfSignedCertificate().key);
}

}  // namespace
}  // namespace kopp
