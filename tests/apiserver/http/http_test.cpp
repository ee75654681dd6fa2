// HTTP/1.1 and HTTP/1.0 requests and responses of ApiHttpServer.
#include "api_http_server_fixture.hpp"

#include <latch>

namespace kopp {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string PostText(const std::string& body, const std::string& headers = "") {
  return "POST /made HTTP/1.1\r\nHost: test\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_F(ApiHttpServerTest, RequestIsPassedToHandlerWithItsHeaders) {
  ServerRequest received;
  handler_ = [&](const ServerRequest& request) {
    received = request;
    return ServerResponse{};
  };
  Serve();
  RawClient client(port());

  client.Send(
      "PATCH /api/v1/pods?limit=5 HTTP/1.1\r\nHost: test\r\nContent-Type: a/b\r\n"
      "Accept: c/d\r\nAccept: e/f\r\nUser-Agent: kubectl/v1\r\nAudit-ID: mine\r\n"
      "Content-Length: 4\r\n\r\nbody");
  EXPECT_EQ(client.Read().status, 200);

  EXPECT_EQ(received.method, "PATCH");
  EXPECT_EQ(received.target.path, "/api/v1/pods");
  EXPECT_EQ(received.target.query.Get("limit"), "5");
  EXPECT_EQ(received.body, "body");
  EXPECT_EQ(received.content_type, "a/b");
  EXPECT_EQ(received.accept, "c/d, e/f");
  EXPECT_EQ(received.user_agent, "kubectl/v1");
  EXPECT_EQ(received.audit_id, "mine");
}

TEST_F(ApiHttpServerTest, ResponseHasStandardHeaders) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{
        .status = 429, .body = "{}", .warnings = {R"(say "no" \ go)"}, .retry_after = 7};
  };
  Serve();

  const auto response = Get("/");

  EXPECT_THAT(response.head, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nContent-Length: 2\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nCache-Control: no-cache, private\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nRetry-After: 7\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nWarning: 299 - \"say \\\"no\\\" \\\\ go\"\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n"));
  EXPECT_THAT(response.head, HasSubstr("\r\nAudit-Id: "));
  EXPECT_THAT(response.head, Not(HasSubstr("Connection:")));
}

TEST_F(ApiHttpServerTest, WarningHeadersCannotContainLineBreaks) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.warnings = {"a\r\nSet-Cookie: b"}};
  };
  Serve();

  EXPECT_THAT(Get("/").head, HasSubstr("\r\nWarning: 299 - \"aSet-Cookie: b\"\r\n"));
}

TEST_F(ApiHttpServerTest, ResponseHasAuditIdOfTheRequest) {
  Serve();
  RawClient client(port());

  client.SendGet("/", "Audit-ID: mine\r\n");

  EXPECT_THAT(client.Read().head, HasSubstr("\r\nAudit-Id: mine\r\n"));
}

TEST_F(ApiHttpServerTest, ConnectionIsReusedForSeveralRequests) {
  Serve();
  RawClient client(port());

  for (const char* target : {"/a", "/b", "/c"}) {
    client.SendGet(target);
    EXPECT_EQ(client.Read().body, target);
  }
}

TEST_F(ApiHttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Serve();
  RawClient client(port());

  client.Send("GET /a HTTP/1.1\r\nHost: test\r\n\r\n" + PostText("body") +
              "GET /c HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_EQ(client.Read().body, "/a");
  EXPECT_EQ(client.Read().body, "/made");
  EXPECT_EQ(client.Read().body, "/c");
}

TEST_F(ApiHttpServerTest, HeadResponseHasContentLengthAndNoBody) {
  Serve();
  RawClient client(port());

  client.Send("HEAD /page HTTP/1.1\r\nHost: test\r\n\r\nGET /next HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_THAT(client.Read(true).head, HasSubstr("\r\nContent-Length: 5\r\n"));
  EXPECT_EQ(client.Read().body, "/next");
}

TEST_F(ApiHttpServerTest, ChunkedRequestBodyIsDecoded) {
  handler_ = [](const ServerRequest& request) { return ServerResponse{.body = request.body}; };
  Serve();
  RawClient client(port());

  client.Send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  client.Send("6;x=y\r\n world\r\n0\r\nTrailer: a\r\n\r\n");

  EXPECT_EQ(client.Read().body, "hello world");
}

TEST_F(ApiHttpServerTest, Sends100ContinueIfClientExpectsIt) {
  handler_ = [](const ServerRequest& request) { return ServerResponse{.body = request.body}; };
  Serve();
  RawClient client(port());
  const std::string request = PostText("body", "Expect: 100-continue\r\n");

  client.Send(request.substr(0, request.size() - 4));
  EXPECT_EQ(client.Read().status, 100);
  client.Send("body");

  EXPECT_EQ(client.Read().body, "body");
}

TEST_F(ApiHttpServerTest, DoesNotSend100ContinueIfBodyHasArrived) {
  Serve();
  RawClient client(port());

  client.Send(PostText("body", "Expect: 100-continue\r\n"));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(ApiHttpServerTest, ConnectionCloseHeaderClosesConnectionAfterResponse) {
  Serve();
  RawClient client(port());

  client.SendGet("/page", "Connection: close\r\n");

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\n/page"));
}

TEST_F(ApiHttpServerTest, Http10RequestGetsHttp10ResponseAndConnectionIsClosed) {
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.0\r\n\r\n");

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith("HTTP/1.0 200 OK\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\n/page"));
}

TEST_F(ApiHttpServerTest, Http10KeepAliveKeepsConnectionOpen) {
  Serve();
  RawClient client(port());

  client.Send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  client.Send("GET /b HTTP/1.0\r\n\r\n");

  const std::string responses = client.ReadToEnd();
  EXPECT_THAT(responses, HasSubstr("\r\nConnection: keep-alive\r\n"));
  EXPECT_THAT(responses, EndsWith("\r\n\r\n/b"));
}

TEST_F(ApiHttpServerTest, AbsoluteFormRequestTargetIsAccepted) {
  Serve();

  EXPECT_EQ(Get("http://test:80/page").body, "/page");
  EXPECT_EQ(Get("http://test").body, "/");
}

TEST_F(ApiHttpServerTest, SlowHandlerDoesNotBlockOtherConnections) {
  std::latch entered(1);
  std::latch proceed(1);
  handler_ = [&](const ServerRequest& request) {
    if (request.target.path == "/slow") {
      entered.count_down();
      proceed.wait();
    }
    return ServerResponse{};
  };
  Serve();
  RawClient slow(port());
  slow.SendGet("/slow");
  entered.wait();

  EXPECT_EQ(Get("/quick").status, 200);

  proceed.count_down();
  EXPECT_EQ(slow.Read().status, 200);
}

TEST_F(ApiHttpServerTest, LargeResponseIsSentCompletely) {
  const std::string large(8 << 20, 'x');
  handler_ = [&](const ServerRequest&) { return ServerResponse{.body = large}; };
  Serve();

  EXPECT_EQ(Get("/").body, large);
}

}  // namespace
}  // namespace kopp
