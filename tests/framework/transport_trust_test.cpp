#include "transport_fixture.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

// Whom a transport trusts and as whom it comes: the same suite as in
// transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST_P(TransportConformanceTest, ATrustedServerIsCalledByTls) {
  RawServer server({Always(Answer(200, "safe"))}, TrustedTls());

  EXPECT_EQ(To(server)->Call({.target = "/"}).body, "safe");
}

TEST_P(TransportConformanceTest, AServerOfAnotherAuthorityIsRefusedBeforeATokenIsSent) {
  RawServer server({Always(Answer(200, ""))}, TrustedTls());
  config_.certificate_authority = Authority().certificate();
  config_.token = "s3cret";

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.what, HasSubstr("certificate-authority in the kubeconfig"));
  EXPECT_EQ(server.Requests().size(), 0U);
}

TEST_P(TransportConformanceTest, AnExpiredCertificateIsRefused) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.names = "IP:127.0.0.1", .expired = true});
  RawServer server({Always(Answer(200, ""))}, tls);

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.what, HasSubstr("certificate has expired"));
}

TEST_P(TransportConformanceTest, ACertificateForAnotherNameIsRefused) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.names = "DNS:other.example,IP:10.0.0.1"});
  RawServer server({Always(Answer(200, ""))}, tls);

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.what, HasSubstr("it is for other.example, 10.0.0.1"));
}

TEST_P(TransportConformanceTest, ACommonNameAloneIsNoName) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.common_name = "localhost"});
  RawServer server({Always(Answer(200, ""))}, tls);

  EXPECT_EQ(FailureOfCall(*To(server.Url("localhost")), {.target = "/"}).kind, Kind::kUntrusted);
}

TEST_P(TransportConformanceTest, ACommonNameDoesNotStandInForAnAddress) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.common_name = "127.0.0.1", .names = "DNS:other.example"});
  RawServer server({Always(Answer(200, ""))}, tls);

  EXPECT_EQ(FailureOfCall(*To(server), {.target = "/"}).kind, Kind::kUntrusted);
}

TEST_P(TransportConformanceTest, TlsServerNameIsCheckedInsteadOfTheAddress) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.names = "DNS:kubernetes.default.svc"});
  config_.tls_server_name = "kubernetes.default.svc";
  RawServer server({Always(Answer(200, "x"))}, tls);

  EXPECT_EQ(To(server)->Call({.target = "/"}).body, "x");
  EXPECT_EQ(server.Requests().at(0).server_name, "kubernetes.default.svc");
  EXPECT_EQ(Header(server.Requests().at(0).head, "Host"),
            "127.0.0.1:" + std::to_string(server.port()));
}

TEST_P(TransportConformanceTest, AnUntrustedServerIsCalledWhereTheUserWaivedTheCheck) {
  auto tls = TrustedTls();
  tls.identity = authority_.Issue({.names = "DNS:other.example", .expired = true});
  config_.certificate_authority.clear();
  config_.insecure_skip_tls_verify = true;
  RawServer server({Always(Answer(200, "x"))}, tls);

  EXPECT_EQ(To(server)->Call({.target = "/"}).body, "x");
}

TEST_P(TransportConformanceTest, AClientCertificateIsShown) {
  auto tls = TrustedTls();
  tls.client_authority = authority_.certificate();
  const Identity own = authority_.Issue({.common_name = "system:admin"});
  config_.client_certificate = own.certificate;
  config_.client_key = own.key;
  RawServer server({Always(Answer(200, ""))}, tls);

  static_cast<void>(To(server)->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).client, "system:admin");
}

TEST_P(TransportConformanceTest, AServerThatWantsAnotherClientCertificateSaysSo) {
  auto tls = TrustedTls();
  tls.client_authority = Authority().certificate();
  const Identity own = authority_.Issue({.common_name = "system:admin"});
  config_.client_certificate = own.certificate;
  config_.client_key = own.key;
  RawServer server({Always(Answer(200, ""))}, tls);

  const auto failure = FailureOfCall(*To(server), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("client-certificate in the kubeconfig"));
  EXPECT_EQ(server.Requests().size(), 0U);
}

TEST_P(TransportConformanceTest, AServerWithoutTlsIsNotTakenForOneWithIt) {
  RawServer server({{Send("HTTP/1.0 400 Bad Request\r\n\r\n"), Close()}});
  const std::string url = "https" + server.Url().substr(4);

  const auto failure = FailureOfCall(*To(url), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("does the server speak TLS there?"));
}

TEST_P(TransportConformanceTest, AServerThatEndsTheHandshakeIsUnreachable) {
  RawServer server({{CutOff()}});
  const std::string url = "https" + server.Url().substr(4);

  EXPECT_EQ(FailureOfCall(*To(url), {.target = "/"}).kind, Kind::kUnreachable);
}

// A TLS record with an alert in it, unencrypted as before and in a handshake.
std::string FatalAlert(char what) { return std::string("\x15\x03\x01\x00\x02\x02", 6) + what; }

TEST_P(TransportConformanceTest, AnAlertOnACertificateIsUntrusted) {
  RawServer server({{Send(FatalAlert(SSL_AD_CERTIFICATE_EXPIRED)), Close()}});

  const auto failure = FailureOfCall(*To("https" + server.Url().substr(4)), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUntrusted) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("client-certificate in the kubeconfig"));
}

TEST_P(TransportConformanceTest, AnyOtherAlertIsBroken) {
  RawServer server({{Send(FatalAlert(SSL_AD_INTERNAL_ERROR)), Close()}});

  const auto failure = FailureOfCall(*To("https" + server.Url().substr(4)), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kBroken) << failure.what;
  EXPECT_THAT(failure.what, HasSubstr("internal error"));
}

TEST_P(TransportConformanceTest, AnIntermediateAuthorityIsTrustedByItself) {
  const Authority intermediate(authority_, "kopp test intermediate");
  config_.certificate_authority = intermediate.certificate();
  RawServer server({Always(Answer(200, "x"))},
                   RawServer::Tls{.identity = intermediate.IssueForLoopback()});

  EXPECT_EQ(To(server)->Call({.target = "/"}).body, "x");
}

TEST_P(TransportConformanceTest, TheHandshakeNamesTheServer) {
  RawServer server({Always(Answer(200, ""))}, TrustedTls());

  static_cast<void>(To(server.Url("localhost"))->Call({.target = "/"}));
  static_cast<void>(To(server)->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).server_name, "localhost");
  EXPECT_EQ(server.Requests().at(1).server_name, "");  // SNI has no place for an address
}

// --- configurations that cannot work

struct RefusedConfig {
  const char* name = "";
  Config config{};
  std::string says{};
};

class RefusedConfigTest : public ::testing::TestWithParam<RefusedConfig> {};

TEST_P(RefusedConfigTest, IsRefusedAtOnceAndSaysWhy) {
  Config config = GetParam().config;
  config.source = "a test";
  try {
    static_cast<void>(MakeTransport(config));
    FAIL() << "it is taken";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), GetParam().says);
  }
}

RefusedConfig Address(const char* name, const std::string& server, const std::string& says) {
  return {.name = name, .config = {.server = server}, .says = says};
}

INSTANTIATE_TEST_SUITE_P(
    , RefusedConfigTest,
    ::testing::Values(
        Address("WithoutAScheme", "10.0.0.1:6443",
                "\"10.0.0.1:6443\" is not a server's address: it begins with neither https:// nor "
                "http://; write it as https://HOST:PORT"),
        Address("WithoutAHost", "https://",
                "\"https://\" is not a server's address: it has no host; write it as "
                "https://HOST:PORT"),
        Address("WithAPassword", "https://admin:hunter2@host",
                "\"host\" is not a server's address: a user, a query or a fragment has no place "
                "in it; write it as https://HOST:PORT"),
        Address("WithAPasswordThatHoldsAnAt", "https://admin:hunter@2@host",
                "\"host\" is not a server's address: a user, a query or a fragment has no place "
                "in it; write it as https://HOST:PORT"),
        Address("WithALineEnd", "https://host\nX: y",
                "\"https://host\\x0aX: y\" is not a server's address: the host is no name; write "
                "it as https://HOST:PORT"),
        Address("WithPortZero", "https://host:0",
                "\"https://host:0\" is not a server's address: the port is no number from 1 to "
                "65535; write it as https://HOST:PORT"),
        Address("WithHalfABracket", "https://[::1",
                "\"https://[::1\" is not a server's address: it has a [ without its ]; write it "
                "as https://HOST:PORT"),
        Address("WithAPathThatIsNone", "https://host/k8s/{x}",
                "\"https://host/k8s/{x}\" is not a server's address: its path is none of a URI, "
                "where what is special is written as %20 and the like; write it as "
                "https://HOST:PORT"),
        Address("WithAPathThatIsAHost", "https://host//x/y",
                "\"https://host//x/y\" is not a server's address: its path is none of a URI, "
                "where what is special is written as %20 and the like; write it as "
                "https://HOST:PORT"),
        RefusedConfig{"WithATokenOfTwoWords",
                      {.server = "https://host", .token = "two words"},
                      "the token of a test is not one word of visible ASCII characters"},
        RefusedConfig{"WithAnAuthorityThatIsNotPem",
                      {.server = "https://host", .certificate_authority = "not PEM"},
                      "a test: no certificate in PEM in certificate-authority (no start line)"},
        RefusedConfig{"WithAnAuthorityToCheckAndNoCheck",
                      {.server = "https://host",
                       .certificate_authority = "not PEM",
                       .insecure_skip_tls_verify = true},
                      "a test: certificate-authority and insecure-skip-tls-verify exclude each "
                      "other"},
        RefusedConfig{"WithAServerNameThatIsNone",
                      {.server = "https://host", .tls_server_name = "a\r\nX: y"},
                      "a test: tls-server-name: \"a\\x0d\\x0aX: y\" is no name; write the one that "
                      "stands in the server's certificate"},
        RefusedConfig{"WithACertificateWithoutItsKey",
                      {.server = "https://host", .client_certificate = "x"},
                      "a test: client-certificate and client-key are of use only together"}),
    [](const auto& tested) { return tested.param.name; });

// --- tokens in files

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

TEST_P(TransportConformanceTest, ATokenFileIsReadAgainAfterAMinute) {
  RawServer server({Always(Answer(200, ""))});
  const TokenFile file("first\n");
  HandSetClock clock;
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

TEST_P(TransportConformanceTest, ATokenFileIsReadAgainAfterA401) {
  RawServer server({Always(Answer(401, ""))});
  const TokenFile file("first");
  config_.token_file = file.path();
  const auto transport = To(server);

  file.Write("second");
  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_THAT(server.Requests().at(0).head, HasSubstr("Bearer first"));
  EXPECT_THAT(server.Requests().at(1).head, HasSubstr("Bearer second"));
}

TEST_P(TransportConformanceTest, ATokenStaysInUseWhileItsFileHoldsNone) {
  RawServer server({Always(Answer(401, ""))});
  const TokenFile file("first");
  config_.token_file = file.path();
  const auto transport = To(server);

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
