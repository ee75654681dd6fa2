// Tests of the limits of ApiHttpServer. tests/framework/http_server tests the HTTP server that
// enforces them.
#include "api_http_server_fixture.hpp"

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTooLargeHead = "HTTP/1.1 431 Request Header Fields Too Large\r\n";

std::string PostWithBody(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'b');
}

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
  EXPECT_TRUE(stalled.AwaitBytes());

  RawClient next(port());
  next.SendGet("/", "Connection: close\r\n");
  EXPECT_TRUE(next.AwaitBytes()) << "after the first connection has timed out";

  EXPECT_LT(stalled.ReadToEnd().size(), large.size());
}

// Connection limit.

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

  EXPECT_TRUE(first.AwaitClose());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);
}

}  // namespace
}  // namespace kopp
