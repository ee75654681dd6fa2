#include "net/certificate.hpp"

#include <chrono>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include <kopp/config_error.hpp>
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

TEST(CertificateTest, EachCertificateIsReadAndOneThatIsCutIsAnError) {
  const std::string first = detail::SelfSignedCertificate().chain;
  const std::string both = first + detail::SelfSignedCertificate().chain;

  EXPECT_EQ(detail::ReadCertificates(both).size(), 2);
  EXPECT_EQ(detail::ReadCertificates("garbage").size(), 0);
  EXPECT_EQ(detail::ReadCertificates("").size(), 0);
  for (const std::size_t missing : {2U, 20U, 30U, 60U, 300U}) {
    EXPECT_THROW((void)detail::ReadCertificates(both.substr(0, both.size() - missing)), ConfigError)
        << missing;
  }
  EXPECT_THROW((void)detail::ReadCertificates(both.substr(0, first.size() + 40)), ConfigError);
}

TEST(CertificateTest, TwoSelfSignedCertificatesHaveDifferentKeys) {
  EXPECT_NE(detail::SelfSignedCertificate().key, detail::SelfSignedCertificate().key);
}

}  // namespace
}  // namespace kopp
