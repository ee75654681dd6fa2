#include "transport_fixture.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

// Tests TLS verification, client certificates, tokens and invalid configurations. The suite is
// instantiated in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, ServerOfTheConfiguredAuthorityIsTrusted) {
  RawServer server({AlwaysRespond(MakeResponse(200, "safe"))}, TrustedTls());

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "safe");
}

TEST_P(TransportConformanceTest, ServerOfAnotherAuthorityIsRejectedBeforeTheTokenIsSent) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, TrustedTls());
  config_.certificate_authority = CertificateAuthority().certificate();
  config_.token = "s3cret";

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, HasSubstr("certificate-authority in the configuration"));
  EXPECT_EQ(server.Requests().size(), 0U);
}

TEST_P(TransportConformanceTest, ExpiredServerCertificateIsRejected) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.subject_alt_names = "IP:127.0.0.1", .expired = true});
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, HasSubstr("certificate has expired"));
}

TEST_P(TransportConformanceTest, ServerCertificateForAnotherNameIsRejected) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.subject_alt_names = "DNS:other.example,IP:10.0.0.1"});
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, HasSubstr("the certificate is valid for other.example, 10.0.0.1"));
}

TEST_P(TransportConformanceTest, CommonNameWithoutSubjectAltNameIsRejected) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.common_name = "localhost"});
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  EXPECT_EQ(FailureOfCall(*TransportTo(server.Url("localhost")), {.target = "/"}).kind,
            Kind::kUntrusted);
}

TEST_P(TransportConformanceTest, CommonNameDoesNotMatchIpAddress) {
  auto tls = TrustedTls();
  tls.identity =
      authority_.Issue({.common_name = "127.0.0.1", .subject_alt_names = "DNS:other.example"});
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kUntrusted);
}

TEST_P(TransportConformanceTest, TlsServerNameIsCheckedInsteadOfHost) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.subject_alt_names = "DNS:kubernetes.default.svc"});
  config_.tls_server_name = "kubernetes.default.svc";
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))}, tls);

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "x");
  EXPECT_EQ(server.Requests().at(0).server_name, "kubernetes.default.svc");
  EXPECT_EQ(Header(server.Requests().at(0).head, "Host"),
            "127.0.0.1:" + std::to_string(server.port()));
}

TEST_P(TransportConformanceTest, InsecureSkipTlsVerifyAcceptsAnyServerCertificate) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.subject_alt_names = "DNS:other.example", .expired = true});
  config_.certificate_authority.clear();
  config_.insecure_skip_tls_verify = true;
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))}, tls);

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "x");
}

TEST_P(TransportConformanceTest, ClientCertificateIsPresented) {
  auto tls = TrustedTls();
  tls.client_authority = authority_.certificate();
  const CertificateAndKey own = authority_.Issue({.common_name = "system:admin"});
  config_.client_certificate = own.certificate;
  config_.client_key = own.key;
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  static_cast<void>(TransportTo(server)->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).client, "system:admin");
}

TEST_P(TransportConformanceTest, RejectedClientCertificateFailsAsUntrusted) {
  auto tls = TrustedTls();
  tls.client_authority = CertificateAuthority().certificate();
  const CertificateAndKey own = authority_.Issue({.common_name = "system:admin"});
  config_.client_certificate = own.certificate;
  config_.client_key = own.key;
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, tls);

  const auto failure = FailureOfCall(*TransportTo(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("client-certificate and client-key in the configuration"));
  EXPECT_EQ(server.Requests().size(), 0U);
}

TEST_P(TransportConformanceTest, PlainHttpResponseToTlsHandshakeFailsAsUntrusted) {
  RawServer server({{Send("HTTP/1.0 400 Bad Request\r\n\r\n"), Close()}});
  const std::string url = "https" + server.Url().substr(4);

  const auto failure = FailureOfCall(*TransportTo(url), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("check that the server serves HTTPS at this address"));
}

TEST_P(TransportConformanceTest, ConnectionClosedDuringHandshakeFailsAsUnreachable) {
  RawServer server({{CloseAbruptly()}});
  const std::string url = "https" + server.Url().substr(4);

  EXPECT_EQ(FailureOfCall(*TransportTo(url), {.target = "/"}).kind, Kind::kUnreachable);
}

// Returns a TLS record with a fatal alert, unencrypted as during the handshake.
std::string FatalAlert(char description) {
  return std::string("\x15\x03\x01\x00\x02\x02", 6) + description;
}

TEST_P(TransportConformanceTest, CertificateAlertFailsAsUntrusted) {
  RawServer server({{Send(FatalAlert(SSL_AD_CERTIFICATE_EXPIRED)), Close()}});

  const auto failure =
      FailureOfCall(*TransportTo("https" + server.Url().substr(4)), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("client-certificate and client-key in the configuration"));
}

TEST_P(TransportConformanceTest, OtherTlsAlertFailsAsBroken) {
  RawServer server({{Send(FatalAlert(SSL_AD_INTERNAL_ERROR)), Close()}});

  const auto failure =
      FailureOfCall(*TransportTo("https" + server.Url().substr(4)), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kBroken) << failure.message;
  EXPECT_THAT(failure.message, HasSubstr("internal error"));
}

TEST_P(TransportConformanceTest, IntermediateAuthorityIsAcceptedAsTrustAnchor) {
  const CertificateAuthority intermediate(authority_, "kopp test intermediate");
  config_.certificate_authority = intermediate.certificate();
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))},
                   RawServer::Tls{.identity = intermediate.IssueForLoopback()});

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "x");
}

TEST_P(TransportConformanceTest, SniHasTheHostNameButNoIpAddress) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, TrustedTls());

  static_cast<void>(TransportTo(server.Url("localhost"))->Call({.target = "/"}));
  static_cast<void>(TransportTo(server)->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).server_name, "localhost");
  EXPECT_EQ(server.Requests().at(1).server_name, "");  // SNI does not allow an IP address
}

// --- invalid configurations

struct InvalidConfig {
  const char* name = "";
  Config config{};
  std::string error{};
};

class InvalidConfigTest : public ::testing::TestWithParam<InvalidConfig> {};

TEST_P(InvalidConfigTest, MakeTransportThrowsConfigError) {
  Config config = GetParam().config;
  config.source = "a test";
  try {
    static_cast<void>(MakeTransport(config));
    FAIL() << "the configuration is accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), GetParam().error);
  }
}

InvalidConfig Address(const char* name, const std::string& server, const std::string& error) {
  return {.name = name, .config = {.server = server}, .error = error};
}

INSTANTIATE_TEST_SUITE_P(
    , InvalidConfigTest,
    ::testing::Values(
        Address(
            "WithoutAScheme", "10.0.0.1:6443",
            "\"10.0.0.1:6443\" is not a valid server address: it does not start with https:// or "
            "http://; write it as https://HOST:PORT"),
        Address("WithoutAHost", "https://",
                "\"https://\" is not a valid server address: the host is missing; write it as "
                "https://HOST:PORT"),
        Address("WithAPassword", "https://admin:hunter2@host",
                "\"host\" is not a valid server address: it must not contain a user, a query or a "
                "fragment; write it as https://HOST:PORT"),
        Address("WithAPasswordThatContainsAnAt", "https://admin:hunter@2@host",
                "\"host\" is not a valid server address: it must not contain a user, a query or a "
                "fragment; write it as https://HOST:PORT"),
        Address("WithALineBreak", "https://host\nX: y",
                "\"https://host\\x0aX: y\" is not a valid server address: the host has characters "
                "that are not allowed in a name; write it as https://HOST:PORT"),
        Address(
            "WithPortZero", "https://host:0",
            "\"https://host:0\" is not a valid server address: the port is not a number from 1 to "
            "65535; write it as https://HOST:PORT"),
        Address(
            "WithAnUnclosedBracket", "https://[::1",
            "\"https://[::1\" is not a valid server address: the ] after [ is missing; write it "
            "as https://HOST:PORT"),
        Address(
            "WithAnInvalidPath", "https://host/k8s/{x}",
            "\"https://host/k8s/{x}\" is not a valid server address: its path is not a valid URI "
            "path; percent-encode special characters (%20); write it as "
            "https://HOST:PORT"),
        Address("WithAPathOfTwoSlashes", "https://host//x/y",
                "\"https://host//x/y\" is not a valid server address: its path is not a valid URI "
                "path; percent-encode special characters (%20); write it as "
                "https://HOST:PORT"),
        InvalidConfig{"WithAProxyWithoutAScheme",
                      {.server = "https://host", .proxy_url = "me:hunter2@proxy:3128"},
                      "a test: proxy-url: the proxy URL is not valid: it does not start with "
                      "http://, https://, socks5:// or socks5h://; write it as "
                      "http://[USER:PASSWORD@]HOST:PORT, with special characters of the password "
                      "percent-encoded"},
        InvalidConfig{
            "WithATokenOfTwoWords",
            {.server = "https://host", .token = "two words"},
            "a test: token: the token contains characters that are not allowed in a token "
            "(white space, control characters or bytes beyond ASCII); replace it"},
        InvalidConfig{"WithAnAuthorityThatIsNotPem",
                      {.server = "https://host", .certificate_authority = "not PEM"},
                      "a test: certificate-authority contains no PEM certificate (no start line)"},
        InvalidConfig{"WithAnAuthorityAndInsecureSkipTlsVerify",
                      {.server = "https://host",
                       .certificate_authority = "not PEM",
                       .insecure_skip_tls_verify = true},
                      "a test: certificate-authority and insecure-skip-tls-verify are mutually "
                      "exclusive"},
        InvalidConfig{
            "WithAnInvalidTlsServerName",
            {.server = "https://host", .tls_server_name = "a\r\nX: y"},
            "a test: tls-server-name: \"a\\x0d\\x0aX: y\" is not a valid name; use a name "
            "from the server's certificate"},
        InvalidConfig{"WithACertificateWithoutItsKey",
                      {.server = "https://host", .client_certificate = "x"},
                      "a test: client-certificate and client-key must be set together"}),
    [](const auto& tested) { return tested.param.name; });

// --- token files

// A temporary token file.
class TokenFile {
 public:
  explicit TokenFile(const std::string& text) { Write(text); }
  ~TokenFile() { std::filesystem::remove(path_); }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  void Write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("kopp-token-" + std::to_string(::getpid()));
};

TEST_P(TransportConformanceTest, TokenFileIsReadAgainAfterOneMinute) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const TokenFile file("first\n");
  ManualClock clock;
  config_.token_file = file.path();
  TransportOptions options{.calls = GetParam(), .clock = clock};
  config_.server = server.Url();
  const auto transport = MakeTransport(config_, options);

  file.Write("second\n");
  clock.Advance(59s);
  static_cast<void>(transport->Call({.target = "/"}));
  clock.Advance(1s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_THAT(server.Requests().at(0).head, HasSubstr("Bearer first"));
  EXPECT_THAT(server.Requests().at(1).head, HasSubstr("Bearer second"));
}

TEST_P(TransportConformanceTest, TokenFileIsReadAgainAfter401) {
  RawServer server({AlwaysRespond(MakeResponse(401, ""))});
  const TokenFile file("first");
  config_.token_file = file.path();
  const auto transport = TransportTo(server);

  file.Write("second");
  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_THAT(server.Requests().at(0).head, HasSubstr("Bearer first"));
  EXPECT_THAT(server.Requests().at(1).head, HasSubstr("Bearer second"));
}

TEST_P(TransportConformanceTest, PreviousTokenStaysInUseIfFileHasNoValidToken) {
  RawServer server({AlwaysRespond(MakeResponse(401, ""))});
  const TokenFile file("first");
  config_.token_file = file.path();
  const auto transport = TransportTo(server);

  static_cast<void>(transport->Call({.target = "/"}));
  file.Write("evil\r\nX-Injected: yes");
  static_cast<void>(transport->Call({.target = "/"}));
  std::filesystem::remove(file.path());
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_THAT(server.Requests().at(1).head, HasSubstr("Bearer first"));
  EXPECT_THAT(server.Requests().at(2).head, HasSubstr("Bearer first"));
}

}  // namespace
}  // namespace kopp::testing
