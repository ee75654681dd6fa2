#include "net/certificate.hpp"

#include <string>

#include <gtest/gtest.h>

#include <kopp/http_server.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

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

TEST(CertificateTest, TwoSelfSignedCertificatesHaveDifferentKeys) {
  EXPECT_NE(detail::SelfSignedCertificate().key, detail::SelfSignedCertificate().key);
}

}  // namespace
}  // namespace kopp
