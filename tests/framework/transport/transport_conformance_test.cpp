#include "transport_fixture.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

INSTANTIATE_TEST_SUITE_P(, TransportConformanceTest, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

// --- requests and responses

TEST_P(TransportConformanceTest, GetReturnsStatusAndBody) {
  RawServer server({AlwaysRespond(MakeResponse(404, "{\"kind\":\"Status\"}"))});

  const ApiResponse response = TransportTo(server)->Call({.target = "/api/v1/pods?limit=5"});

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "{\"kind\":\"Status\"}");
  EXPECT_THAT(server.Requests().at(0).head, StartsWith("GET /api/v1/pods?limit=5 HTTP/1.1"));
}

TEST_P(TransportConformanceTest, ChunkedBodyIsReturnedComplete) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead()),
                     SendByteByByte(Chunk("one ") + Chunk("two")), Send("0\r\n\r\n"), Repeat()}});

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "one two");
}

TEST_P(TransportConformanceTest, BodyThatEndsWithTheConnectionIsReturnedComplete) {
  RawServer server({{ReadRequest(), Send("HTTP/1.1 200 OK\r\n\r\nall"), Close()}});

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).body, "all");
}

TEST_P(TransportConformanceTest, LargeResponseBodyIsReturnedComplete) {
  const std::string large(5'000'000, 'x');
  RawServer server({AlwaysRespond(MakeResponse(200, large))}, TrustedTls());

  EXPECT_TRUE(TransportTo(server)->Call({.target = "/"}).body == large);
}

TEST_P(TransportConformanceTest, RequestBodyIsSentWithItsContentType) {
  RawServer server({AlwaysRespond(MakeResponse(201, "{}"))});

  static_cast<void>(TransportTo(server)->Call({.method = "PATCH",
                                               .target = "/a",
                                               .body = "{\"b\":1}",
                                               .content_type = "application/apply-patch+yaml"}));

  const auto request = server.Requests().at(0);
  EXPECT_THAT(request.head, StartsWith("PATCH /a HTTP/1.1"));
  EXPECT_EQ(Header(request.head, "Content-Type"), "application/apply-patch+yaml");
  EXPECT_EQ(request.body, "{\"b\":1}");
}

TEST_P(TransportConformanceTest, LargeRequestBodyIsSentComplete) {
  const std::string large(3'000'000, 'x');
  RawServer server({AlwaysRespond(MakeResponse(201, ""))}, TrustedTls());

  static_cast<void>(TransportTo(server)->Call({.method = "POST", .target = "/a", .body = large}));

  EXPECT_TRUE(server.Requests().at(0).body == large);
}

TEST_P(TransportConformanceTest, RequestHasAuthorizationUserAgentAcceptAndHost) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  config_.token = "s3cret";
  options_.user_agent = "sample-controller/v1";

  static_cast<void>(TransportTo(server)->Call({.target = "/", .accept = "application/yaml"}));

  const std::string head = server.Requests().at(0).head;
  EXPECT_EQ(Header(head, "Authorization"), "Bearer s3cret");
  EXPECT_EQ(Header(head, "User-Agent"), "sample-controller/v1");
  EXPECT_EQ(Header(head, "Accept"), "application/yaml");
  EXPECT_EQ(Header(head, "Host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_THAT(head, Not(HasSubstr("Accept-Encoding")));
}

TEST_P(TransportConformanceTest, TraceparentIsSentOnlyIfItIsSet) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/", .traceparent = "00-1-2-01"}));
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(Header(server.Requests().at(0).head, "traceparent"), "00-1-2-01");
  EXPECT_THAT(server.Requests().at(1).head, Not(HasSubstr("traceparent")));
}

TEST_P(TransportConformanceTest, HostHeaderOverTlsHasNoPortWithCpprestOnly) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, TrustedTls());

  static_cast<void>(TransportTo(server.Url("localhost"))->Call({.target = "/"}));

  EXPECT_EQ(Header(server.Requests().at(0).head, "Host"),
            UsesCpprest() ? "localhost" : "localhost:" + std::to_string(server.port()));
}

TEST_P(TransportConformanceTest, PathOfServerUrlIsPrefixOfTarget) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});

  static_cast<void>(
      TransportTo(server.Url() + "/k8s/clusters/one/")->Call({.target = "/api?a=b%2Fc"}));

  EXPECT_THAT(server.Requests().at(0).head,
              StartsWith("GET /k8s/clusters/one/api?a=b%2Fc HTTP/1.1"));
}

TEST_P(TransportConformanceTest, TargetIsSentUnchanged) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const std::string target = "/a%2Fb/-._~!$&'()*+,;=:@/c/?d=%20e&f=g%3D1,h%21=(i)&j&k=/?:@";

  static_cast<void>(TransportTo(server)->Call({.target = target}));

  EXPECT_THAT(server.Requests().at(0).head, StartsWith("GET " + target + " HTTP/1.1"));
}

TEST_P(TransportConformanceTest, RetryAfterAndWarningsAreParsed) {
  RawServer server(
      {AlwaysRespond(MakeResponse(429, "",
                                  "Retry-After: 7\r\n"
                                  "Warning: 299 - \"use \\\"v2\\\"\"\r\n"
                                  "Warning: 199 - \"not for us\", 299 - \"and soon\"\r\n"))});

  const ApiResponse response = TransportTo(server)->Call({.target = "/"});

  EXPECT_EQ(response.retry_after, Duration(7s));
  EXPECT_THAT(response.warnings, ElementsAre("use \"v2\"", "and soon"));
}

TEST_P(TransportConformanceTest, RetryAfterMayBeADate) {
  RawServer server(
      {AlwaysRespond(MakeResponse(429, "", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"))});

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).retry_after, Duration::zero());
}

TEST_P(TransportConformanceTest, InvalidRetryAfterIsIgnored) {
  RawServer server({AlwaysRespond(MakeResponse(429, "", "Retry-After: -5\r\n"))});

  EXPECT_EQ(TransportTo(server)->Call({.target = "/"}).retry_after, std::nullopt);
}

TEST_P(TransportConformanceTest, RequestWithInvalidCharactersIsNotSent) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  const auto transport = TransportTo(server);

  EXPECT_THROW(static_cast<void>(transport->Call({.target = "/a\r\nX: y"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(transport->Call({.target = "/a%2"})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(transport->Call({.target = "/", .accept = "a\nb"})),
               std::invalid_argument);
  EXPECT_EQ(server.Connections(), 0U);
}

// --- reuse of connections

TEST_P(TransportConformanceTest, SequentialCallsShareOneConnection) {
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))}, TrustedTls());
  const auto transport = TransportTo(server);

  for (int i = 0; i < 20; ++i) static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Connections(), 1U);
}

TEST_P(TransportConformanceTest, PostIsNotRetriedIfReusedConnectionBreaks) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "")), ReadRequest(), CloseAbruptly()},
                    AlwaysRespond(MakeResponse(201, ""))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));

  const auto failure = FailureOfCall(*transport, {.method = "POST", .target = "/a", .body = "{}"});

  EXPECT_EQ(failure.kind, Kind::kBroken) << failure.message;
  EXPECT_EQ(server.Requests().size(), 2U);
  EXPECT_EQ(server.Connections(), 1U);
}

TEST_P(TransportConformanceTest, DeleteIsNotRetriedIfReusedConnectionBreaks) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "")), ReadRequest(), Reset()},
                    AlwaysRespond(MakeResponse(200, ""))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));

  const auto failure = FailureOfCall(*transport, {.method = "DELETE", .target = "/a"});

  EXPECT_EQ(failure.kind, Kind::kBroken) << failure.message;
  EXPECT_EQ(server.Requests().size(), 2U);
  EXPECT_EQ(server.Connections(), 1U);
}

TEST_P(TransportConformanceTest, GetIsRetriedIfReusedConnectionBreaks) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "")), ReadRequest(), CloseAbruptly()},
                    AlwaysRespond(MakeResponse(200, "again"))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(transport->Call({.target = "/"}).body, "again");
  EXPECT_EQ(server.Requests().size(), 3U);
}

TEST_P(TransportConformanceTest, GetIsNotRetriedIfNewConnectionBreaks) {
  RawServer server({{ReadRequest(), CloseAbruptly()}});

  EXPECT_EQ(FailureOfCall(*TransportTo(server), {.target = "/"}).kind, Kind::kBroken);
  EXPECT_EQ(server.Requests().size(), 1U);
}

TEST_P(TransportConformanceTest, PostUsesNewConnectionIfIdleOneWasClosed) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "")), Close()},
                    AlwaysRespond(MakeResponse(201, "made"))},
                   TrustedTls());
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));
  server.WaitForClosedConnections(1);

  const ApiResponse response = transport->Call({.method = "POST", .target = "/a", .body = "{}"});

  EXPECT_EQ(response.body, "made");
  EXPECT_EQ(server.Requests().size(), 2U);
}

TEST_P(TransportConformanceTest, ConnectionWithUnsolicitedBytesIsNotReused) {
  RawServer server({{ReadRequest(), Send(MakeResponse(200, "first")), WaitForProceed(),
                     Send(MakeResponse(200, "poison")), Stall()},
                    AlwaysRespond(MakeResponse(200, "second"))});
  const auto transport = TransportTo(server);
  static_cast<void>(transport->Call({.target = "/"}));
  server.Proceed();
  server.WaitForStall();

  EXPECT_EQ(transport->Call({.target = "/"}).body, "second");
}

TEST_P(TransportConformanceTest, ConcurrentCallsGetTheirOwnResponses) {
  RawServer server({{ReadRequest(), EchoTarget(), Repeat()}}, TrustedTls());
  const auto transport = TransportTo(server);

  std::vector<std::jthread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&transport, i] {
      for (int n = 0; n < 10; ++n) {
        const std::string target = "/" + std::to_string(i) + "/" + std::to_string(n);
        EXPECT_EQ(transport->Call({.target = target}).body, target);
      }
    });
  }
  callers.clear();

  EXPECT_EQ(server.Requests().size(), 80U);
  EXPECT_LE(server.Connections(), 8U);
}

// --- unreachable servers and name lookup

TEST_P(TransportConformanceTest, RefusedConnectionFailsAsUnreachable) {
  const std::string url = RawServer({{Stall()}}).Url();  // its port is closed again

  const auto failure = FailureOfCall(*TransportTo(url), {.target = "/api"});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_EQ(failure.message, "GET " + url +
                                 "/api: connection refused; check the address, and that a server "
                                 "is running there");
}

// While an object exists, the process cannot open file descriptors.
class NoFreeDescriptors {
 public:
  NoFreeDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &limit_);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    const rlimit exhausted{.rlim_cur = static_cast<rlim_t>(lowest_free),
                           .rlim_max = limit_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &exhausted);
  }
  ~NoFreeDescriptors() { ::setrlimit(RLIMIT_NOFILE, &limit_); }
  NoFreeDescriptors(const NoFreeDescriptors&) = delete;
  NoFreeDescriptors& operator=(const NoFreeDescriptors&) = delete;

 private:
  rlimit limit_{};
};

TEST_P(TransportConformanceTest, CallWithoutFreeFileDescriptorsFailsAndNextOneSucceeds) {
#if defined(__SANITIZE_ADDRESS__)  // UBSan has no macro, but these builds enable both
  GTEST_SKIP() << "UBSan needs a free file descriptor to check objects";
#endif
  RawServer server({AlwaysRespond(MakeResponse(200, "hello"))}, TrustedTls());
  const auto transport = TransportTo(server);
  Failure call;
  Failure stream;
  {
    const NoFreeDescriptors exhausted;
    call = FailureOfCall(*transport, {.target = "/"});
    stream = FailureOf([&] { static_cast<void>(transport->Open({.target = "/"})); });
  }

  EXPECT_EQ(call.kind, Kind::kUnreachable);
  EXPECT_THAT(call.message, HasSubstr("Too many open files"));
  EXPECT_EQ(stream.kind, Kind::kUnreachable);
  EXPECT_EQ(transport->Call({.target = "/"}).body, "hello");
  EXPECT_EQ(server.Connections(), 1U);
}

TEST_P(TransportConformanceTest, UnresolvableNameFailsAsUnreachable) {
  const std::string label(70, 'x');  // too long for DNS, so no name server is contacted

  const auto failure = FailureOfCall(*TransportTo("https://" + label + ".test"), {.target = "/"});

  EXPECT_EQ(failure.kind, Kind::kUnreachable);
  EXPECT_THAT(failure.message, HasSubstr("cannot look up " + label));
}

TEST_P(TransportConformanceTest, HostNameIsResolved) {
  RawServer server({AlwaysRespond(MakeResponse(200, "x"))}, TrustedTls());

  EXPECT_EQ(TransportTo(server.Url("localhost"))->Call({.target = "/"}).body, "x");
}

TEST_P(TransportConformanceTest, Ipv6AddressIsSupported) {
  std::unique_ptr<RawServer> server;
  try {
    server = std::make_unique<RawServer>(
        std::vector<Script>{AlwaysRespond(MakeResponse(200, "six"))}, TrustedTls(), "::1");
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this machine has no ::1";
  }

  EXPECT_EQ(TransportTo(server->Url("[::1]"))->Call({.target = "/"}).body, "six");
}

}  // namespace
}  // namespace kopp::testing
