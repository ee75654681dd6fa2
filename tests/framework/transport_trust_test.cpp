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

TEST_P(TransportConformanceTest, ConfigurationsThatCannotWorkAreRefusedAtOnce) {
  EXPECT_THROW(To("10.0.0.1:6443"), ConfigError);
  EXPECT_THROW(To("https://"), ConfigError);
  EXPECT_THROW(To("https://user:password@host"), ConfigError);
  EXPECT_THROW(To("https://host:0"), ConfigError);
  EXPECT_THROW(To("https://[::1"), ConfigError);
  config_.token = "two words";
  EXPECT_THROW(To("https://host"), ConfigError);
  config_.token.clear();
  config_.certificate_authority = "not PEM";
  EXPECT_THROW(To("https://host"), ConfigError);
  config_.insecure_skip_tls_verify = true;
  config_.certificate_authority = authority_.certificate();
  EXPECT_THROW(To("https://host"), ConfigError);
}

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
