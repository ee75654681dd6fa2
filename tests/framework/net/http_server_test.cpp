#include "http_server_fixture.hpp"

#include <system_error>
#include <thread>

// Tests requests, responses and shutdown of HttpServer. http_server_bounds_test.cpp tests its
// limits.
namespace kopp {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(HttpServerTest, GetReturnsResponseOfTheHandler) {
  Serve();

  const auto response = Get(port(), "/page");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello\n");
  EXPECT_EQ(response.head,
            "HTTP/1.1 200 OK\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Content-Length: 6\r\n");
}

TEST_F(HttpServerTest, HandlerReceivesQueryAndSetsContentType) {
  Serve();

  const auto response = Get(port(), "/echo?verbose&exclude=a%20b?");

  EXPECT_EQ(response.body, "verbose&exclude=a%20b?");
  EXPECT_THAT(response.head, HasSubstr("Content-Type: a/b\r\n"));
  EXPECT_EQ(Get(port(), "/echo").body, "");
  EXPECT_EQ(Get(port(), "/echo?").body, "");
}

TEST_F(HttpServerTest, HeadReturnsHeadersWithoutBody) {
  Serve();
  RawClient client(port());

  client.Send("HEAD /page HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_THAT(client.Read(true).head, HasSubstr("Content-Length: 6\r\n"));
  client.SendGet("/echo?after");
  EXPECT_EQ(client.Read().body, "after");
}

TEST_F(HttpServerTest, UnknownPathReturns404WithListOfPaths) {
  Serve();

  const auto response = Get(port(), "/pages?x=y");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body,
            "nothing is served at \"/pages\", only at /broken /echo /large /page /slow\n");
  EXPECT_EQ(Get(port(), "/page/").status, 404);
}

TEST_F(HttpServerTest, UnsupportedMethodReturns405WithAllowedMethods) {
  Serve();
  RawClient client(port());

  client.Send("POST /page HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc");
  const auto response = client.Read();
  client.Send("BREW /page HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.head, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_EQ(client.Read().status, 405) << "the connection stays open";
}

TEST_F(HttpServerTest, HandlerExceptionReturns500WithItsMessage) {
  Serve();

  const auto response = Get(port(), "/broken");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "it broke\n");
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ConnectionServesSeveralRequests) {
  Serve();
  RawClient client(port());

  for (int i = 0; i < 100; ++i) {
    client.SendGet("/echo?" + std::to_string(i));
    EXPECT_EQ(client.Read().body, std::to_string(i));
  }
}

TEST_F(HttpServerTest, PipelinedRequestsGetTheirResponsesInOrder) {
  Serve();
  RawClient client(port());

  client.Send(
      "GET /echo?1 HTTP/1.1\r\nHost: a\r\n\r\n"
      "HEAD /echo?2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "GET /none HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nxx"
      "GET /echo?4 HTTP/1.1\r\nHost: a\r\n\r\n");

  EXPECT_EQ(client.Read().body, "1");
  EXPECT_EQ(client.Read(true).status, 200);
  EXPECT_EQ(client.Read().status, 404);
  EXPECT_EQ(client.Read().body, "4");
}

TEST_F(HttpServerTest, ConnectionIsClosedForConnectionCloseAndHttp10) {
  Serve();
  RawClient closing(port());
  RawClient http10(port());

  closing.SendGet("/page", "Connection: close\r\n");
  http10.Send("GET /page HTTP/1.0\r\n\r\n");

  const std::string response = closing.ReadToEnd();
  EXPECT_THAT(response, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\nhello\n"));
  EXPECT_THAT(http10.ReadToEnd(), EndsWith("\r\n\r\nhello\n"));
}

TEST_F(HttpServerTest, Http10RequestGetsHttp10Response) {
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.0\r\n\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.0 200 OK\r\n"));
}

TEST_F(HttpServerTest, Http10KeepAliveKeepsConnectionOpen) {
  Serve();
  RawClient client(port());

  client.Send("GET /echo?1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  client.Send("GET /echo?2 HTTP/1.0\r\n\r\n");

  const std::string responses = client.ReadToEnd();
  EXPECT_THAT(responses, HasSubstr("\r\nConnection: keep-alive\r\n"));
  EXPECT_THAT(responses, EndsWith("\r\n\r\n2"));
}

TEST_F(HttpServerTest, AbsoluteFormRequestTargetIsAccepted) {
  routes_["/"] = [](const HttpRequest& request) { return HttpResponse{.body = request.path}; };
  Serve();

  EXPECT_EQ(Get(port(), "http://test:80/pages").body, "/pages");
  EXPECT_EQ(Get(port(), "http://test").body, "/");
}

TEST_F(HttpServerTest, SlowHandlerDoesNotBlockOtherRequests) {
  Serve();
  const auto slow = SlowClient();

  EXPECT_EQ(Get(port(), "/none").status, 404);

  Proceed();
  EXPECT_EQ(slow->Read().body, "at last\n");
}

TEST_F(HttpServerTest, DestructorDoesNotWaitForClients) {
  Serve();
  RawClient silent(port());
  RawClient partial(port());
  partial.Send("GET /pa");
  RawClient idle(port());
  idle.SendGet("/page");
  EXPECT_EQ(idle.Read().status, 200);
  RawClient stalled(port());
  stalled.SendGet("/large");
  EXPECT_TRUE(stalled.AwaitBytes());

  server_.reset();

  EXPECT_TRUE(silent.AwaitClose());
  EXPECT_TRUE(partial.AwaitClose());
  EXPECT_TRUE(idle.AwaitClose());
  EXPECT_LT(stalled.ReadToEnd().size(), kLarge);
}

TEST_F(HttpServerTest, DestructorClosesAllSocketsBeforeItWaitsForRunningHandler) {
  Serve();
  const std::uint16_t port = this->port();
  const auto slow = SlowClient();
  RawClient idle(port);
  idle.SendGet("/page");
  EXPECT_EQ(idle.Read().status, 200);
  std::jthread destroying([this] { server_.reset(); });

  EXPECT_TRUE(slow->AwaitClose());
  EXPECT_TRUE(idle.AwaitClose());
  EXPECT_THROW(RawClient{port}, std::system_error);

  Proceed();
}

TEST_F(HttpServerTest, DestructorWaitsForRunningHandler) {
  Serve();
  const auto slow = SlowClient();
  RawClient next(port());
  next.SendGet("/slow");
  std::jthread proceeding([this] { Proceed(); });

  server_.reset();

  EXPECT_TRUE(proceed_.try_wait());
  EXPECT_TRUE(slow->AwaitClose());
  EXPECT_TRUE(next.AwaitClose());
}

}  // namespace
}  // namespace kopp
