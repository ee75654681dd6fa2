#include "https_proxy_fixture.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests requests through an https:// proxy, and failures of the proxy.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(, HttpsProxyTest, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

// --- requests

TEST_P(HttpsProxyTest, CallToHttpsServerUsesATunnelInsideTls) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, "hello"))})},
                  ProxyAndServer());
  config_.token = "s3cret";

  EXPECT_EQ(TransportThrough(proxy)->Call({.target = "/api"}).body, "hello");

  const auto requests = proxy.Requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[0].head, StartsWith("CONNECT api.invalid:6443 HTTP/1.1\r\n"));
  EXPECT_EQ(Header(requests[0].head, "Host"), "api.invalid:6443");
  EXPECT_EQ(Header(requests[0].head, "Authorization"), "none");
  EXPECT_THAT(requests[1].head, StartsWith("GET /api HTTP/1.1\r\n"));
  EXPECT_EQ(Header(requests[1].head, "Authorization"), "Bearer s3cret");
}

TEST_P(HttpsProxyTest, EachHandshakeNamesItsPeerInSni) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, ProxyAndServer());
  config_.proxy_url = proxy.Url("localhost");

  static_cast<void>(TransportTo(kServerBehindHttpsProxy)->Call({.target = "/"}));

  EXPECT_EQ(proxy.Requests().at(0).server_name, "localhost");
  EXPECT_EQ(proxy.Requests().at(1).server_name, "api.invalid");
}

TEST_P(HttpsProxyTest, NextCallReusesTheTunnel) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, "one")), ReadRequest(),
                                 Send(MakeResponse(200, "two"))})},
                  ProxyAndServer());
  const auto transport = TransportThrough(proxy);

  EXPECT_EQ(transport->Call({.target = "/"}).body, "one");
  EXPECT_EQ(transport->Call({.target = "/"}).body, "two");

  EXPECT_EQ(proxy.Connections(), 1U);
}

TEST_P(HttpsProxyTest, TunnelWithUnreadBytesIsNotReused) {
  RawServer proxy({InsideTunnel({Send(MakeResponse(200, "one")), Send("extra"), Stall()}),
                   InsideTunnel({ReadRequest(), Send(MakeResponse(200, "two"))})},
                  ProxyAndServer());
  const auto transport = TransportThrough(proxy);

  // All bytes have arrived when the client starts to read, so the TLS session with the proxy
  // buffers those after the response.
  const auto wait = [&proxy] { proxy.WaitForStall(); };
  EXPECT_EQ(transport->Call({.target = "/", .before_send = wait}).body, "one");

  EXPECT_EQ(transport->Call({.target = "/"}).body, "two");
}

TEST_P(HttpsProxyTest, GetIsRetriedThroughANewTunnelIfTheReusedOneBreaks) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, "one")), ReadRequest(),
                                 CloseAbruptly()}),
                   InsideTunnel({ReadRequest(), Send(MakeResponse(200, "two"))})},
                  ProxyAndServer());
  const auto transport = TransportThrough(proxy);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(transport->Call({.target = "/"}).body, "two");
}

TEST_P(HttpsProxyTest, StreamHasItsOwnTunnelAndReportsSilence) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, ""))}),
                   InsideTunnel({ReadRequest(), Send(ChunkedResponseHead() + Chunk("one\n")),
                                 WaitForProceed(), SendByteByByte(Chunk("two\n")), Stall()})},
                  ProxyAndServer());
  const auto transport = TransportThrough(proxy);
  static_cast<void>(transport->Call({.target = "/"}));

  const auto stream = transport->Open({.target = "/watch"});

  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "one\n");
  EXPECT_EQ(stream->Read(1ms).state, Stream::State::kSilent);
  proxy.Proceed();
  std::string bytes;
  while (bytes.size() < 4) bytes += stream->Read(kHangTimeout).bytes;
  EXPECT_EQ(bytes, "two\n");
  EXPECT_EQ(proxy.Connections(), 2U);
}

TEST_P(HttpsProxyTest, LargeBodiesPassThroughTheTunnelInBothDirections) {
  const std::string body(3 << 20, 'x');
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, body))})}, ProxyAndServer());

  const auto response =
      TransportThrough(proxy)->Call({.method = "POST", .target = "/", .body = body});

  EXPECT_TRUE(response.body == body);
  EXPECT_TRUE(proxy.Requests().at(1).body == body);
}

TEST_P(HttpsProxyTest, PasswordIsSentToTheProxyOnly) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(MakeResponse(200, ""))})}, ProxyAndServer());

  static_cast<void>(
      TransportThrough(proxy, kServerBehindHttpsProxy, "me:word@")->Call({.target = "/"}));

  EXPECT_EQ(Header(proxy.Requests().at(0).head, "Proxy-Authorization"),
            "Basic bWU6d29yZA==");  // me:word
  EXPECT_EQ(Header(proxy.Requests().at(1).head, "Proxy-Authorization"), "none");
}

TEST_P(HttpsProxyTest, RequestsToHttpServerAreForwardedOverOneTlsConnection) {
  RawServer proxy({AlwaysRespond(MakeResponse(200, "hello"))}, ProxyOnly());
  const auto transport = TransportThrough(proxy, "http://api.invalid:8080", "me:word@");

  EXPECT_EQ(transport->Call({.target = "/api"}).body, "hello");
  EXPECT_EQ(transport->Call({.target = "/api"}).body, "hello");

  const std::string head = proxy.Requests().at(0).head;
  EXPECT_THAT(head, StartsWith("GET http://api.invalid:8080/api HTTP/1.1\r\n"));
  EXPECT_EQ(Header(head, "Proxy-Authorization"), "Basic bWU6d29yZA==");
  EXPECT_EQ(proxy.Connections(), 1U);
}

TEST_P(HttpsProxyTest, StreamOfHttpServerIsForwardedByTheProxy) {
  RawServer proxy({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("event\n")), Stall()}},
                  ProxyOnly());
  const auto transport = TransportThrough(proxy, "http://api.invalid");

  EXPECT_EQ(transport->Open({.target = "/watch"})->Read(kHangTimeout).bytes, "event\n");
}

TEST_P(HttpsProxyTest, DefaultPortIs443) {
  config_.proxy_url = "https://" + std::string(70, 'x') + ".test";  // no name server is contacted

  EXPECT_THAT(FailureOfCall(*TransportTo(kServerBehindHttpsProxy), {.target = "/"}).message,
              HasSubstr(".test:443: cannot look up"));
}

// --- failures

TEST_P(HttpsProxyTest, ProxyThatRequiresAPasswordFailsAsForbiddenByProxy) {
  RawServer proxy({{ReadRequest(), Send(MakeResponse(407, "who are you?")), Close()}}, ProxyOnly());

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kForbiddenByProxy);
  EXPECT_EQ(failure.message,
            "the proxy refused the connection with status 407; set user and password in the URL of "
            "the proxy");
}

TEST_P(HttpsProxyTest, HandshakeWithTheProxyTimesOut) {
  RawServer proxy({{Stall()}});
  options_.handshake_timeout = 150ms;

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_EQ(failure.message,
            "the proxy accepted the connection, but the TLS handshake with the proxy timed out; "
            "check that it is an https:// proxy and is not overloaded");
}

TEST_P(HttpsProxyTest, HandshakeWithTheServerTimesOut) {
  RawServer proxy({{ReadRequest(), Send(kConnectionEstablished), Stall()}}, ProxyOnly());
  options_.handshake_timeout = kTimeoutAfterWork;  // the handshake with the proxy must succeed

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_EQ(failure.message,
            "the connection was accepted, but the TLS handshake with the server timed out; check "
            "that the server is an API server and is not overloaded");
}

TEST_P(HttpsProxyTest, ProxyWithoutTlsFailsAsUntrusted) {
  RawServer proxy({{Send("HTTP/1.0 400 Bad Request\r\n\r\n"), Close()}});

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUntrusted);
  EXPECT_THAT(failure.message, StartsWith("the TLS handshake with the proxy failed: "));
  EXPECT_THAT(failure.message, HasSubstr("the URL of a proxy without TLS starts with http://"));
}

TEST_P(HttpsProxyTest, ProxyThatSendsATlsAlertFailsAsUnreachable) {
  const std::string alert("\x15\x03\x01\x00\x02\x02\x50", 7);  // internal_error
  RawServer proxy({{Send(alert), Close()}});

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, StartsWith("the proxy ended the TLS handshake: "));
}

TEST_P(HttpsProxyTest, ProxyThatClosesTheConnectionInTheHandshakeFailsAsUnreachable) {
  RawServer proxy({{CloseAbruptly()}});

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, StartsWith("the proxy closed the connection during the TLS"));
}

TEST_P(HttpsProxyTest, ProxyThatClosesTheConnectionAfterConnectFailsAsUnreachable) {
  RawServer proxy({{ReadRequest(), Close()}}, ProxyOnly());

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message,
            "the proxy closed the connection during CONNECT; check that it is an HTTP proxy");
}

TEST_P(HttpsProxyTest, ServerThatClosesTheConnectionInTheHandshakeFailsAsUnreachable) {
  RawServer proxy({{ReadRequest(), Send(kConnectionEstablished), Close()}}, ProxyOnly());

  const auto failure = FailureThrough(proxy);

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message,
              StartsWith("the server closed the connection during the TLS handshake; check"));
}

TEST_P(HttpsProxyTest, ProxyThatEndsItsTlsSessionDuringAResponseBreaksTheConnection) {
  RawServer proxy(
      {InsideTunnel(
          {ReadRequest(), Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), CloseAbruptly()})},
      ProxyAndServer());

  const auto failure = FailureOfCall(*TransportThrough(proxy), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kBroken);
  EXPECT_THAT(failure.message,
              HasSubstr("the connection ended in the middle of the response; check proxies"));
}

TEST_P(HttpsProxyTest, StopCancelsACallThatWaitsForTheHandshakeWithTheProxy) {
  RawServer proxy({{Stall()}});
  const auto transport = TransportThrough(proxy);
  std::stop_source stop;
  std::jthread stopper([&] {
    proxy.WaitForStall();
    stop.request_stop();
  });

  const auto failure =
      FailureOf([&] { static_cast<void>(transport->Call({.target = "/"}, stop.get_token())); });

  EXPECT_EQ(failure.kind, Kind::kCancelled);
}

TEST_P(HttpsProxyTest, StopCancelsAStreamInsideTheTunnel) {
  RawServer proxy({InsideTunnel({ReadRequest(), Send(ChunkedResponseHead()), Stall()})},
                  ProxyAndServer());
  const auto transport = TransportThrough(proxy);
  std::stop_source stop;
  const auto stream = transport->Open({.target = "/watch"}, stop.get_token());
  std::jthread stopper([&] { stop.request_stop(); });

  EXPECT_EQ(FailureOf([&] { static_cast<void>(stream->Read(kHangTimeout)); }).kind,
            Kind::kCancelled);
}

}  // namespace
}  // namespace kopp::testing
