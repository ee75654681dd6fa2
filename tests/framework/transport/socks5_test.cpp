#include "transport_fixture.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Tests connections through a SOCKS5 proxy. One RawServer plays the proxy and, after its reply, the
// API server: api.invalid has no address of its own.
namespace kopp::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;
using namespace std::string_literals;

const std::string no_password = "\x05\x00"s;
const std::string connected = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
constexpr std::size_t kGreetingSize = 3;
constexpr std::size_t kConnectSize = 18;  // for the name "api.invalid"

class Socks5Test : public TransportConformanceTest {
 protected:
  std::unique_ptr<Transport> TransportThrough(const RawServer& proxy, const std::string& server,
                                              const std::string& user = "",
                                              const std::string& scheme = "socks5") {
    config_.proxy_url = scheme + "://" + user + "127.0.0.1:" + std::to_string(proxy.port());
    return TransportTo(server);
  }
  /// Returns the error of a call through a proxy that runs `script`.
  Failure FailureThrough(const Script& script, const std::string& user = "") {
    RawServer proxy({script});
    return FailureOfCall(*TransportThrough(proxy, "http://api.invalid", user), {.target = "/"});
  }
};

INSTANTIATE_TEST_SUITE_P(, Socks5Test, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

TEST_P(Socks5Test, CallToHttpsServerUsesATunnelToItsName) {
  config_.certificate_authority = authority_.certificate();
  RawServer proxy(
      {{ReadBytes(kGreetingSize), Send(no_password), ReadBytes(kConnectSize), Send(connected),
        StartTls(), ReadRequest(), Send(MakeResponse(200, "hello"))}},
      RawServer::Tls{.identity = authority_.Issue({.subject_alt_names = "DNS:api.invalid"})});
  config_.token = "s3cret";

  EXPECT_EQ(TransportThrough(proxy, "https://api.invalid:6443")->Call({.target = "/api"}).body,
            "hello");

  const auto requests = proxy.Requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[0].head, "\x05\x01\x00"s);
  EXPECT_EQ(requests[1].head, "\x05\x01\x00\x03\x0b"s + "api.invalid" + "\x19\x2b"s);
  EXPECT_EQ(Header(requests[2].head, "Authorization"), "Bearer s3cret");
}

TEST_P(Socks5Test, CallToHttpServerUsesATunnelAndAnOrdinaryRequest) {
  RawServer proxy({{ReadBytes(kGreetingSize), Send(no_password), ReadBytes(kConnectSize),
                    SendByteByByte(connected), ReadRequest(), Send(MakeResponse(200, "one")),
                    ReadRequest(), Send(MakeResponse(200, "two"))}});
  const auto transport = TransportThrough(proxy, "http://api.invalid", "", "socks5h");

  EXPECT_EQ(transport->Call({.target = "/api"}).body, "one");
  EXPECT_EQ(transport->Call({.target = "/api"}).body, "two");

  EXPECT_EQ(proxy.Connections(), 1U);
  EXPECT_THAT(proxy.Requests().at(2).head, StartsWith("GET /api HTTP/1.1\r\n"));
}

TEST_P(Socks5Test, AddressOfTheServerIsSentAsAnAddress) {
  RawServer ipv4({{ReadBytes(kGreetingSize), Send(no_password), ReadBytes(10), Close()}});
  RawServer ipv6({{ReadBytes(kGreetingSize), Send(no_password), ReadBytes(22), Close()}});

  static_cast<void>(FailureOfCall(*TransportThrough(ipv4, "https://10.1.2.3"), {.target = "/"}));
  static_cast<void>(FailureOfCall(*TransportThrough(ipv6, "https://[fd00::1]"), {.target = "/"}));

  EXPECT_EQ(ipv4.Requests().at(1).head, "\x05\x01\x00\x01\x0a\x01\x02\x03\x01\xbb"s);
  EXPECT_THAT(ipv6.Requests().at(1).head, StartsWith("\x05\x01\x00\x04\xfd"s));
  EXPECT_THAT(ipv6.Requests().at(1).head, EndsWith("\x01\x01\xbb"s));
}

TEST_P(Socks5Test, PasswordIsSentIfTheProxyRequiresIt) {
  RawServer proxy(
      {{ReadBytes(4), Send("\x05\x02"s), ReadBytes(12), Send("\x01\x00"s), ReadBytes(kConnectSize),
        Send(connected), ReadRequest(), Send(MakeResponse(200, "hello"))}});

  EXPECT_EQ(
      TransportThrough(proxy, "http://api.invalid", "me:p%40ss:wd@")->Call({.target = "/"}).body,
      "hello");

  EXPECT_EQ(proxy.Requests().at(0).head, "\x05\x02\x00\x02"s);
  EXPECT_EQ(proxy.Requests().at(1).head, "\x01\x02me\x07p@ss:wd"s);
}

TEST_P(Socks5Test, RejectedPasswordFailsAsForbiddenByProxyAndIsNotPartOfTheError) {
  const auto failure = FailureThrough(
      {ReadBytes(4), Send("\x05\x02"s), ReadBytes(12), Send("\x01\x01"s), Close()}, "me:hunter2@");

  EXPECT_EQ(failure.kind, Kind::kForbiddenByProxy);
  EXPECT_THAT(failure.message, HasSubstr("through the proxy socks5://127.0.0.1:"));
  EXPECT_THAT(failure.message, HasSubstr("set user and password in the URL of the proxy"));
  EXPECT_THAT(failure.message, Not(HasSubstr("hunter2")));
}

TEST_P(Socks5Test, ProxyThatRequiresAPasswordFailsAsForbiddenByProxy) {
  EXPECT_EQ(FailureThrough({ReadBytes(kGreetingSize), Send("\x05\xff"s), Close()}).kind,
            Kind::kForbiddenByProxy);
}

TEST_P(Socks5Test, ReplyOfTheProxyIsPartOfTheError) {
  const auto after_reply = [this](const std::string& reply) {
    return FailureThrough({ReadBytes(kGreetingSize), Send(no_password), ReadBytes(kConnectSize),
                           Send("\x05"s + reply), Close()});
  };
  const auto forbidden = after_reply("\x02"s);
  EXPECT_EQ(forbidden.kind, Kind::kForbiddenByProxy);
  EXPECT_THAT(forbidden.message, HasSubstr("the proxy refused the connection: not allowed by its "
                                           "rules; check that the proxy can reach"));
  const auto refused = after_reply("\x05"s);
  EXPECT_EQ(refused.kind, Kind::kUnreachable);
  EXPECT_THAT(refused.message, HasSubstr("connection refused"));
}

TEST_P(Socks5Test, ProxyOfAnotherTypeFailsAsUnreachable) {
  const auto failure =
      FailureThrough({ReadBytes(kGreetingSize), Send("HTTP/1.1 400 Bad Request\r\n\r\n"), Close()});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, HasSubstr("check that it is a SOCKS5 proxy"));
}

TEST_P(Socks5Test, ProxyThatClosesTheConnectionFailsAsUnreachable) {
  for (const Step& end : {Close(), Reset()}) {
    const auto failure = FailureThrough({ReadBytes(kGreetingSize), end});
    EXPECT_EQ(failure.kind, Kind::kUnreachable);
    EXPECT_THAT(failure.message, HasSubstr("closed the connection during the SOCKS5 handshake"));
  }
}

TEST_P(Socks5Test, ProxyThatDoesNotRespondTimesOut) {
  options_.handshake_timeout = 150ms;

  const auto failure = FailureThrough({ReadBytes(kGreetingSize), Stall()});

  EXPECT_EQ(failure.kind, Kind::kTimeout);
  EXPECT_THAT(failure.message,
              HasSubstr("did not respond in time; check that it is a SOCKS5 proxy"));
}

}  // namespace
}  // namespace kopp::testing
