// Tests HttpServer over TLS.
#include "http_server_fixture.hpp"
#include "support/certificates.hpp"

#include <kopp/transport.hpp>

namespace kopp {
namespace {

using testing::CertificateAuthority;
using ::testing::EndsWith;
using ::testing::StartsWith;

class HttpServerTlsTest : public HttpServerTest {
 protected:
  HttpServerTlsTest() {
    options_.tls = {.certificate = identity_.certificate, .key = identity_.key};
  }

  /// Returns a client that trusts `authority`.
  [[nodiscard]] std::unique_ptr<Transport> ClientTrusting(
      const CertificateAuthority& authority, const testing::CertificateAndKey& client = {}) const {
    Config config;
    config.server = "https://127.0.0.1:" + std::to_string(port());
    config.certificate_authority = authority.certificate();
    config.client_certificate = client.certificate;
    config.client_key = client.key;
    return MakeTransport(config, {.calls = TransportOptions::Calls::kBeast});
  }

  CertificateAuthority authority_;
  testing::CertificateAndKey identity_ = authority_.IssueForLoopback();
};

TEST_F(HttpServerTlsTest, HttpsRequestReturnsResponseOfTheHandler) {
  Serve();

  const auto response = ClientTrusting(authority_)->Call({.target = "/page"});

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello\n");
}

TEST_F(HttpServerTlsTest, LargeRequestAndResponseBodiesAreTransferredCompletely) {
  options_.max_body = 3 << 20;
  std::size_t size = 0;
  routes_["/upload"] = {[&](const HttpRequest& request) {
                          size = request.body.size();
                          return HttpResponse{.body = std::string(kLarge, 'x')};
                        },
                        {"POST"}};
  Serve();

  const auto response =
      ClientTrusting(authority_)
          ->Call(
              {.method = "POST", .target = "/upload", .body = std::string(options_.max_body, 'b')});

  EXPECT_EQ(size, options_.max_body);
  EXPECT_EQ(response.body, std::string(kLarge, 'x'));
}

TEST_F(HttpServerTlsTest, StreamIsSentOverTls) {
  routes_["/stream"] = [](const HttpRequest&) {
    return HttpResponse{.body = "first", .stream = [left = 1]() mutable {
                          return left-- > 0 ? std::string(" second") : std::string();
                        }};
  };
  Serve();

  EXPECT_EQ(ClientTrusting(authority_)->Call({.target = "/stream"}).body, "first second");
}

TEST_F(HttpServerTlsTest, ClientRejectsServerCertificateOfAnotherAuthority) {
  Serve();

  try {
    (void)ClientTrusting(CertificateAuthority())->Call({.target = "/page"});
    FAIL() << "the client accepted the certificate";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kUntrusted);
  }
}

TEST_F(HttpServerTlsTest, OnlyClientsWithACertificateOfTheClientCaCanConnect) {
  const CertificateAuthority root;
  const CertificateAuthority clients(root, "clients");  // needs no certificate of its root
  options_.tls->client_ca = clients.certificate();
  Serve();
  const auto call = [&](const testing::CertificateAndKey& client) {
    return ClientTrusting(authority_, client)->Call({.target = "/page"}).status;
  };

  EXPECT_THROW(call({}), TransportError);
  EXPECT_THROW(call(CertificateAuthority().Issue({})), TransportError);
  EXPECT_THROW(call(root.Issue({})), TransportError);
  EXPECT_THROW(call(clients.Issue({.expired = true})), TransportError);
  EXPECT_EQ(call(clients.Issue({})), 200);
}

TEST_F(HttpServerTlsTest, AnEmptyClientCaIsAConfigError) {
  options_.tls->client_ca = "";
  try {
    Serve();
    FAIL() << "any client could connect, or none";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "cannot serve HTTPS on 127.0.0.1:0: there is no client CA in PEM");
  }
}

TEST_F(HttpServerTlsTest, PlainHttpRequestToTlsPortGetsExplanation) {
  Serve();
  RawClient client(port());

  client.SendGet("/page");

  EXPECT_EQ(client.ReadToEnd(),
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST_F(HttpServerTlsTest, MalformedHandshakeClosesOnlyItsOwnConnection) {
  Serve();
  const auto other = ClientTrusting(authority_);
  EXPECT_EQ(other->Call({.target = "/page"}).status, 200);
  RawClient client(port());

  client.Send(std::string("\x16\x03\x01\x00\x05garbage", 12));

  EXPECT_TRUE(client.AwaitClose());
  EXPECT_EQ(other->Call({.target = "/page"}).status, 200);
}

TEST_F(HttpServerTlsTest, AClientThatDoesNotKnowTls12IsRejected) {
  Serve();
  RawClient client(port());

  // A ClientHello of TLS 1.1 with three cipher suites, in one record.
  client.Send(std::string("\x16\x03\x01\x00\x31\x01\x00\x00\x2d\x03\x02", 11) +
              std::string(32, 'r') +
              std::string("\x00\x00\x06\xc0\x09\xc0\x13\x00\x2f\x01\x00", 11));

  const std::string alert_protocol_version("\x00\x02\x02\x46", 4);
  EXPECT_THAT(client.ReadToEnd(), EndsWith(alert_protocol_version));
}

TEST_F(HttpServerTlsTest, IncompleteHandshakeTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient silent(port());
  RawClient partial(port());

  partial.Send(std::string("\x16\x03\x01\x02\x00\x01", 6));

  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_TRUE(partial.AwaitClose());
}

/// Returns the message of the ConfigError that HttpServer throws for `tls`, or "none".
std::string TlsErrorMessageOf(const HttpServerTls& tls) {
  try {
    const HttpServer server({.address = "127.0.0.1:0", .tls = tls}, {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_F(HttpServerTlsTest, UnusableCertificateOrKeyIsAConfigErrorThatNamesTheAddress) {
  const testing::CertificateAndKey other = authority_.IssueForLoopback();
  const std::string start =
      "cannot serve HTTPS on 127.0.0.1:0: the certificate or its key cannot be used: ";

  EXPECT_THAT(TlsErrorMessageOf({"no PEM", identity_.key}), StartsWith(start));
  EXPECT_THAT(TlsErrorMessageOf({identity_.certificate, "no PEM"}), StartsWith(start));
  EXPECT_THAT(TlsErrorMessageOf({identity_.certificate, other.key}), StartsWith(start));
}

TEST_F(HttpServerTlsTest, NewConnectionsUseTheReplacedCertificateAndOpenOnesContinue) {
  HttpServer& server = Serve();
  const auto old_client = ClientTrusting(authority_);
  EXPECT_EQ(old_client->Call({.target = "/page"}).status, 200);
  const CertificateAuthority next_authority;
  const auto next = next_authority.IssueForLoopback();

  server.SetCertificate({next.certificate, next.key});

  EXPECT_EQ(ClientTrusting(next_authority)->Call({.target = "/page"}).body, "hello\n");
  EXPECT_EQ(old_client->Call({.target = "/page"}).status, 200);
  EXPECT_THROW((void)ClientTrusting(authority_)->Call({.target = "/page"}), TransportError);
}

TEST_F(HttpServerTlsTest, ReplacingByAnUnusableCertificateThrowsAndKeepsTheCurrentOne) {
  HttpServer& server = Serve();

  EXPECT_THROW(server.SetCertificate({"no PEM", identity_.key}), ConfigError);
  EXPECT_THROW(server.SetCertificate({identity_.certificate, authority_.IssueForLoopback().key}),
               ConfigError);

  EXPECT_EQ(ClientTrusting(authority_)->Call({.target = "/page"}).status, 200);
}

TEST_F(HttpServerTest, ReplacingTheCertificateOfAPlainHttpServerIsALogicError) {
  HttpServer& server = Serve();

  EXPECT_THROW(server.SetCertificate({"a", "b"}), std::logic_error);
}

}  // namespace
}  // namespace kopp
