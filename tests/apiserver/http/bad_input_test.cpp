// Malformed, too large, incomplete and slow requests to ApiHttpServer.
#include "api_http_server_fixture.hpp"

#include <vector>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTooLargeHead = "HTTP/1.1 431 Request Header Fields Too Large\r\n";

std::string PostWithBody(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'b');
}

/// A request that the server rejects, and the status code of the response.
struct RejectedRequest {
  std::string name{};
  std::string bytes{};
  int status = 400;
};

void PrintTo(const RejectedRequest& request, std::ostream* out) { *out << request.name; }

class ApiHttpServerRejectionTest : public ApiHttpServerTest,
                                   public ::testing::WithParamInterface<RejectedRequest> {};

TEST_P(ApiHttpServerRejectionTest, RejectedRequestClosesOnlyItsOwnConnection) {
  Serve();
  RawClient other(port());
  other.Send("GET /other HT");
  RawClient client(port());

  client.Send(GetParam().bytes);

  EXPECT_THAT(client.ReadToEnd(),
              StartsWith("HTTP/1.1 " + std::to_string(GetParam().status) + ' '));
  other.Send("TP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(other.Read().body, "/other");
}

std::string RequestText(const std::string& target, const std::string& headers = "Host: test\r\n") {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

const std::string chunked_headers = "Host: test\r\nTransfer-Encoding: chunked\r\n";

INSTANTIATE_TEST_SUITE_P(
    RejectedRequests, ApiHttpServerRejectionTest,
    ::testing::Values(
        RejectedRequest{"Garbage", "\x01\x02\x03garbage\r\n\r\n"},
        RejectedRequest{
            "TlsClientHello",
            std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + "\r\n\r\n"},
        RejectedRequest{"UnsupportedVersion", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        RejectedRequest{"NulInTarget",
                        "GET /a" + std::string(1, '\0') + "b HTTP/1.1\r\nHost: t\r\n\r\n"},
        RejectedRequest{"MissingTarget", "GET  HTTP/1.1\r\nHost: t\r\n\r\n"},
        RejectedRequest{"TargetWithoutSlash", RequestText("page")},
        RejectedRequest{"IncompletePercentEncoding", RequestText("/a%4")},
        RejectedRequest{"NonHexadecimalPercentEncoding", RequestText("/a%zzb")},
        RejectedRequest{"MissingHost", RequestText("/", "")},
        RejectedRequest{"TwoHostHeaders", RequestText("/", "Host: a\r\nHost: b\r\n")},
        RejectedRequest{"TwoContentLengths",
                        RequestText("/", "Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n")},
        RejectedRequest{"NegativeContentLength",
                        RequestText("/", "Host: a\r\nContent-Length: -1\r\n")},
        RejectedRequest{"NonNumericContentLength",
                        RequestText("/", "Host: a\r\nContent-Length: 1x\r\n")},
        RejectedRequest{"ContentLengthOverflow",
                        RequestText("/", "Host: a\r\nContent-Length: 99999999999999999999999\r\n")},
        RejectedRequest{"ContentLengthWithChunkedEncoding",
                        RequestText("/", chunked_headers + "Content-Length: 1\r\n")},
        RejectedRequest{"NonHexadecimalChunkSize", RequestText("/", chunked_headers) + "xyz\r\n"},
        RejectedRequest{"NegativeChunkSize", RequestText("/", chunked_headers) + "-5\r\nhello\r\n"},
        RejectedRequest{"ChunkLongerThanItsSize",
                        RequestText("/", chunked_headers) + "2\r\nhello\r\n"},
        RejectedRequest{"HeaderWithoutColon", RequestText("/", "Host: a\r\nnonsense\r\n")},
        RejectedRequest{"UnsupportedTransferEncoding",
                        RequestText("/", "Host: a\r\nTransfer-Encoding: gzip\r\n"), 501},
        RejectedRequest{"UnsupportedExpectation",
                        RequestText("/", "Host: a\r\nExpect: wonders\r\n"), 417},
        RejectedRequest{"HeadWithoutEnd", "GET / HTTP/1.1\r\nX: " + std::string(1 << 20, 'x'), 431},
        RejectedRequest{"TrailersWithoutEnd",
                        RequestText("/", chunked_headers) + "0\r\nX: " + std::string(1 << 20, 'x'),
                        431},
        RejectedRequest{"TooLargeBody", PostWithBody((3 << 20) + 1), 413},
        RejectedRequest{"TooLargeChunk",
                        RequestText("/", chunked_headers) + "300001\r\n" +
                            std::string((3 << 20) + 1, 'b') + "\r\n0\r\n\r\n",
                        413}),
    [](const auto& each) { return each.param.name; });

TEST_F(ApiHttpServerTest, RequestHeadOf64KibIsAccepted) {
  Serve();
  RawClient client(port());
  const std::string start = "GET / HTTP/1.1\r\nHost: test\r\nX: ";

  client.Send(start + std::string((64 << 10) - start.size() - 4, 'x') + "\r\n\r\n");

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(ApiHttpServerTest, RequestHeadOver64KibIsRejected) {
  Serve();
  RawClient client(port());
  const std::string start = "GET / HTTP/1.1\r\nHost: test\r\nX: ";

  client.Send(start + std::string((64 << 10) - start.size() - 3, 'x') + "\r\n\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeHead));
}

TEST_F(ApiHttpServerTest, RequestBodyOf3MibIsAccepted) {
  std::size_t size = 0;
  handler_ = [&](const ServerRequest& request) {
    size = request.body.size();
    return ServerResponse{};
  };
  Serve();
  RawClient client(port());

  client.Send(PostWithBody(3 << 20));

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(size, 3U << 20);
}

TEST_F(ApiHttpServerTest, RequestBodyOver3MibIsRejectedLikeKubeApiserver) {
  Serve();
  RawClient client(port());

  EXPECT_TRUE(client.Send(PostWithBody(5 << 20))) << "the server must read the whole body";

  const auto response = client.Read();
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, HasSubstr(R"("reason":"RequestEntityTooLarge")"));
  EXPECT_THAT(response.body,
              HasSubstr(R"("message":"Request entity too large: limit is 3145728")"));
}

TEST_F(ApiHttpServerTest, TooLargeBodyIsRejectedBeforeItIsSentIfClientExpects100Continue) {
  Serve();
  RawClient client(port());

  client.Send(
      "POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 4000000\r\n\r\n");

  EXPECT_EQ(client.Read().status, 413);
}

TEST_F(ApiHttpServerTest, NonAsciiBytesInHeadersAreReplaced) {
  std::string user_agent;
  handler_ = [&](const ServerRequest& request) {
    user_agent = request.user_agent;
    return ServerResponse{};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/",
                 "User-Agent: a\xff"
                 "b\r\n");

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(user_agent, "a?b");
}

// Timeouts.

TEST_F(ApiHttpServerTest, IncompleteRequestTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient silent(port());
  RawClient partial(port());
  RawClient without_body(port());

  partial.Send("GET /pa");
  without_body.SendGet("/", "Content-Length: 10\r\n");

  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(partial.ReadToEnd(), "");
  EXPECT_EQ(without_body.ReadToEnd(), "");
}

TEST_F(ApiHttpServerTest, RequestSentByteByByteTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.Send("GET /page?");

  EXPECT_TRUE(client.IsClosedWhileSending("x"));
}

TEST_F(ApiHttpServerTest, IdleConnectionIsClosedAfterIdleTimeout) {
  options_.idle_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page");
  EXPECT_EQ(client.Read().body, "/page");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(ApiHttpServerTest, WriteTimesOutIfClientDoesNotReadTheResponse) {
  const std::string large(32 << 20, 'x');  // larger than the socket buffers
  handler_ = [&](const ServerRequest&) { return ServerResponse{.body = large}; };
  options_.write_timeout = 50ms;
  options_.max_connections = 1;
  Serve();
  RawClient stalled(port());
  stalled.SendGet("/");
  EXPECT_TRUE(stalled.ReceivesWithin(5s));

  RawClient next(port());
  next.SendGet("/", "Connection: close\r\n");
  EXPECT_TRUE(next.ReceivesWithin(5s)) << "after the first connection has timed out";

  EXPECT_LT(stalled.ReadToEnd().size(), large.size());
}

// Connection limit.

TEST_F(ApiHttpServerTest, IncompleteRequestsDoNotBlockNewClientsAtConnectionLimit) {
  options_.max_connections = 8;
  Serve();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET /page HTTP/1.1\r\n");
  }

  EXPECT_EQ(Get("/page").status, 200);
}

TEST_F(ApiHttpServerTest, LongestIdleConnectionIsClosedForNewClientAtConnectionLimit) {
  options_.max_connections = 2;
  Serve();
  RawClient first(port());
  first.SendGet("/page");
  EXPECT_EQ(first.Read().status, 200);
  RawClient second(port());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);

  EXPECT_EQ(Get("/page").status, 200);

  EXPECT_TRUE(first.IsClosedWithin(5s));
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);
}

TEST_F(ApiHttpServerTest, ConnectionsOfDisconnectedClientsAreReleased) {
  options_.max_connections = 4;
  Serve();
  for (int i = 0; i < 50; ++i) {
    RawClient client(port());
    client.Send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nhalf");
  }

  EXPECT_EQ(Get("/page").status, 200);
}

}  // namespace
}  // namespace kopp
