// Tests of the requests that ApiHttpServer passes to its handler, and of its response headers.
#include "api_http_server_fixture.hpp"

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST_F(ApiHttpServerTest, LargeResponseIsSentCompletely) {
  const std::string large(8 << 20, 'x');
  handler_ = [&](const ServerRequest&) { return ServerResponse{.body = large}; };
  Serve();

  EXPECT_EQ(Get("/").body, large);
}

}  // namespace
}  // namespace kopp
