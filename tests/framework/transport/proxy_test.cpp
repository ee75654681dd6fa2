#include "transport_fixture.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests connections through an HTTP proxy. One RawServer plays the proxy and, after its response to
// CONNECT, the API server: kServer has no address of its own.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kServer = "https://api.invalid:6443";

// The start of a script in which the proxy opens a tunnel and the server accepts a TLS connection.
Script WithTunnel(const Script& script) {
  Script all{ReadRequest(), Send("HTTP/1.1 200 Connection established\r\n\r\n"), StartTls()};
  all.insert(all.end(), script.begin(), script.end());
  return all;
}

class ProxyTest : public TransportConformanceTest {
 protected:
  RawServer::Tls ServerTls() {
    config_.certificate_authority = authority_.certificate();
    return {.identity = authority_.Issue({.subject_alt_names = "DNS:api.invalid"})};
  }

  std::unique_ptr<Transport> TransportThrough(const RawServer& proxy,
                                              const std::string& server = kServer) {
    return TransportThrough("127.0.0.1:" + std::to_string(proxy.port()), server);
  }
  std::unique_ptr<Transport> TransportThrough(const std::string& proxy,
                                              const std::string& server = kServer) {
    config_.proxy_url = "http://" + proxy;
    return TransportTo(server);
  }

  /// Returns the error of a call through a proxy that runs `script`. It must name the server and
  /// the proxy; returns the rest of its message.
  Failure FailureThrough(const Script& script) {
    RawServer proxy({script});
    return WithoutNames(FailureOfCall(*TransportThrough(proxy), {.target = "/api"}),
                        "127.0.0.1:" + std::to_string(proxy.port()));
  }
  static Failure WithoutNames(Failure failure, const std::string& proxy) {
    const std::string names =
        std::string("GET ") + kServer + "/api: through the proxy http://" + proxy + ": ";
    EXPECT_THAT(failure.message, StartsWith(names));
    failure.message.erase(0, names.size());
    return failure;
  }
};

INSTANTIATE_TEST_SUITE_P(, ProxyTest, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

// --- https:// servers

TEST_P(ProxyTest, CallToHttpsServerUsesATunnel) {
  RawServer proxy({WithTunnel({ReadRequest(), Send(MakeResponse(200, "hello"))})}, ServerTls());
  config_.token = "s3cret";

  EXPECT_EQ(TransportThrough(proxy)->Call({.target = "/api"}).body, "hello");

  const auto requests = proxy.Requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0].head, StartsWith("CONNECT api.invalid:6443 HTTP/1.1\r\n"));
  EXPECT_EQ(Header(requests[0].head, "Host"), "api.invalid:6443");
  EXPECT_EQ(Header(requests[0].head, "User-Agent"), "kopp");
  EXPECT_EQ(Header(requests[0].head, "Authorization"), "none");
  EXPECT_THAT(requests[1].head, StartsWith("GET /api HTTP/1.1\r\n"));
  EXPECT_EQ(Header(requests[1].head, "Authorization"), "Bearer s3cret");
  EXPECT_EQ(requests[1].server_name, "api.invalid");
}

TEST_P(ProxyTest, ConnectHasBracketsAroundAnIpv6Address) {
  RawServer proxy({{ReadRequest(), Close()}});

  static_cast<void>(FailureOfCall(*TransportThrough(proxy, "https://[fd00::1]"), {.target = "/"}));

  EXPECT_THAT(proxy.Requests().at(0).head, StartsWith("CONNECT [fd00::1]:443 HTTP/1.1\r\n"));
}

TEST_P(ProxyTest, NextCallReusesTheTunnel) {
  RawServer proxy({WithTunnel({ReadRequest(), Send(MakeResponse(200, "one")), ReadRequest(),
                               Send(MakeResponse(200, "two"))})},
                  ServerTls());
  const auto transport = TransportThrough(proxy);

  EXPECT_EQ(transport->Call({.target = "/"}).body, "one");
  EXPECT_EQ(transport->Call({.target = "/"}).body, "two");

  EXPECT_EQ(proxy.Connections(), 1U);
}

TEST_P(ProxyTest, GetIsRetriedThroughANewTunnelIfTheReusedOneBreaks) {
  RawServer proxy(
      {WithTunnel({ReadRequest(), Send(MakeResponse(200, "one")), ReadRequest(), CloseAbruptly()}),
       WithTunnel({ReadRequest(), Send(MakeResponse(200, "two"))})},
      ServerTls());
  const auto transport = TransportThrough(proxy);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(transport->Call({.target = "/"}).body, "two");
}

TEST_P(ProxyTest, StreamHasItsOwnTunnel) {
  RawServer proxy(
      {WithTunnel({ReadRequest(), Send(MakeResponse(200, ""))}),
       WithTunnel({ReadRequest(), Send(ChunkedResponseHead() + Chunk("event\n")), Stall()})},
      ServerTls());
  const auto transport = TransportThrough(proxy);
  static_cast<void>(transport->Call({.target = "/"}));

  const auto stream = transport->Open({.target = "/watch"});

  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "event\n");
  EXPECT_EQ(proxy.Connections(), 2U);
}

TEST_P(ProxyTest, PasswordIsSentToTheProxyOnly) {
  RawServer proxy({WithTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, ServerTls());

  static_cast<void>(TransportThrough("me:p%40ss:word@127.0.0.1:" + std::to_string(proxy.port()))
                        ->Call({.target = "/"}));

  const auto requests = proxy.Requests();
  EXPECT_EQ(Header(requests.at(0).head, "Proxy-Authorization"),
            "Basic bWU6cEBzczp3b3Jk");  // me:p@ss:word
  EXPECT_EQ(Header(requests.at(1).head, "Proxy-Authorization"), "none");
}

TEST_P(ProxyTest, ServerCertificateIsVerifiedThroughATunnel) {
  RawServer proxy({WithTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, ServerTls());
  config_.certificate_authority = CertificateAuthority().certificate();

  EXPECT_EQ(FailureOfCall(*TransportThrough(proxy), {.target = "/"}).kind, Kind::kUntrusted);
}

// --- http:// servers

TEST_P(ProxyTest, RequestToHttpServerIsForwardedByTheProxy) {
  RawServer proxy({AlwaysRespond(MakeResponse(200, "hello"))});
  const auto transport = TransportThrough("me:word@127.0.0.1:" + std::to_string(proxy.port()),
                                          "http://api.invalid:8080/k8s");

  EXPECT_EQ(transport->Call({.target = "/api?a=b"}).body, "hello");
  EXPECT_EQ(transport->Call({.target = "/api?a=b"}).body, "hello");

  const std::string head = proxy.Requests().at(0).head;
  EXPECT_THAT(head, StartsWith("GET http://api.invalid:8080/k8s/api?a=b HTTP/1.1\r\n"));
  EXPECT_EQ(Header(head, "Host"), "api.invalid:8080");
  EXPECT_EQ(Header(head, "Proxy-Authorization"), "Basic bWU6d29yZA==");  // me:word
  EXPECT_EQ(proxy.Connections(), 1U);
}

TEST_P(ProxyTest, StreamOfHttpServerIsForwardedByTheProxy) {
  RawServer proxy({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("event\n")), Stall()}});
  const auto transport = TransportThrough(proxy, "http://api.invalid");

  EXPECT_EQ(transport->Open({.target = "/watch"})->Read(kHangTimeout).bytes, "event\n");

  EXPECT_THAT(proxy.Requests().at(0).head,
              StartsWith("GET http://api.invalid:80/watch HTTP/1.1\r\n"));
}

// --- failures

TEST_P(ProxyTest, ProxyThatRequiresAPasswordFailsAsForbiddenByProxy) {
  const auto failure = FailureThrough(
      {ReadRequest(), Send(MakeResponse(407, "who are you?", "Proxy-Authenticate: Basic\r\n")),
       Close()});

  EXPECT_EQ(failure.kind, Kind::kForbiddenByProxy);
  EXPECT_EQ(failure.message,
            "the proxy refused the connection with status 407; set user and password in the URL of "
            "the proxy");
}

TEST_P(ProxyTest, ProxyThatForbidsTheServerFailsAsForbiddenByProxy) {
  EXPECT_EQ(FailureThrough({ReadRequest(), Send(MakeResponse(403, "")), Close()}).kind,
            Kind::kForbiddenByProxy);
}

TEST_P(ProxyTest, OverloadedProxyFailsAsUnreachable) {
  EXPECT_EQ(FailureThrough({ReadRequest(), Send(MakeResponse(429, "")), Close()}).kind,
            Kind::kUnreachable);
}

TEST_P(ProxyTest, RejectedPasswordIsNotPartOfTheError) {
  RawServer proxy({{ReadRequest(), Send(MakeResponse(407, "")), Close()}});

  const auto failure = FailureOfCall(
      *TransportThrough("me:hunter2@127.0.0.1:" + std::to_string(proxy.port())), {.target = "/"});

  EXPECT_THAT(failure.message, HasSubstr("407"));
  EXPECT_THAT(failure.message, Not(HasSubstr("hunter2")));
}

TEST_P(ProxyTest, ProxyThatCannotReachTheServerFailsAsUnreachable) {
  const auto failure = FailureThrough({ReadRequest(), Send(MakeResponse(502, "no")), Close()});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message,
            "the proxy refused the connection with status 502; check that the proxy can reach, and "
            "allows, this server and port");
}

TEST_P(ProxyTest, ProxyThatDoesNotRespondTimesOut) {
  options_.handshake_timeout = 150ms;

  const auto failure = FailureThrough({ReadRequest(), Stall()});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_EQ(failure.message,
            "the proxy accepted the connection, but did not respond in time; check that it is an "
            "HTTP proxy, and that it can reach the server");
}

TEST_P(ProxyTest, ProxyThatSendsEndlessHeadersFailsAsUnreachable) {
  const auto failure = FailureThrough({ReadRequest(), Send("HTTP/1.1 200 OK\r\n"),
                                       SendUntilClosed(ThousandTimes("X-Header: y\r\n"))});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message,
            "the response of the proxy to CONNECT is not valid HTTP; check that it is an HTTP "
            "proxy");
}

TEST_P(ProxyTest, ProxyThatResetsTheConnectionFailsAsUnreachable) {
  EXPECT_EQ(FailureThrough({ReadRequest(), Reset()}).kind, Kind::kUnreachable);
}

TEST_P(ProxyTest, ProxyThatClosesTheConnectionFailsAsUnreachable) {
  const auto failure = FailureThrough({ReadRequest(), Close()});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message,
            "the proxy closed the connection during CONNECT; check that it is an HTTP proxy");
}

TEST_P(ProxyTest, BytesBeforeTheTlsHandshakeFailAsUnreachable) {
  const auto failure =
      FailureThrough({ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nextra"), Stall()});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, HasSubstr("the response of the proxy to CONNECT is not valid HTTP"));
}

TEST_P(ProxyTest, TlsHandshakeThroughATunnelTimesOut) {
  options_.handshake_timeout = kTimeoutAfterWork;  // CONNECT must succeed

  const auto failure = FailureThrough({ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\n"), Stall()});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message, HasSubstr("TLS handshake"));
}

TEST_P(ProxyTest, ConnectingToTheProxyTimesOut) {
  FullListener listener;
  options_.connect_timeout = 150ms;
  const std::string proxy = listener.Url().substr(std::string("http://").size());

  const auto failure =
      WithoutNames(FailureOfCall(*TransportThrough(proxy), {.target = "/api"}), proxy);

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_EQ(failure.message, "timed out while connecting; check the address and firewalls");
}

TEST_P(ProxyTest, RefusedConnectionToTheProxyFailsAsUnreachable) {
  const std::string proxy = RawServer({{Stall()}}).Url().substr(std::string("http://").size());

  const auto failure =
      WithoutNames(FailureOfCall(*TransportThrough(proxy), {.target = "/api"}), proxy);

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message,
            "connection refused; check the address, and that a server is running there");
}

TEST_P(ProxyTest, UnresolvableNameOfTheProxyFailsAsUnreachable) {
  const std::string label(70, 'x');  // too long for DNS, so no name server is contacted

  const auto failure = FailureOfCall(*TransportThrough(label + ".test:3128"), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, HasSubstr("cannot look up " + label));
}

TEST_P(ProxyTest, StopCancelsACallThatWaitsForTheProxy) {
  RawServer proxy({{ReadRequest(), Stall()}});
  const auto transport = TransportThrough(proxy);
  std::stop_source stop;
  std::jthread stopper([&] {
    proxy.WaitForRequests(1);
    stop.request_stop();
  });

  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
}

}  // namespace
}  // namespace kopp::testing
