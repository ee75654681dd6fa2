#include "http_server_fixture.hpp"

#include <thread>

// What is asked and what is answered; the bounds are in http_server_bounds_test.cpp.
namespace kopp {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(HttpServerTest, AGetIsAnsweredWithThePage) {
  Serve();

  const auto answer = Get(port(), "/page");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello\n");
  EXPECT_EQ(answer.head,
            "HTTP/1.1 200 OK\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "Content-Length: 6\r\n"
            "Connection: keep-alive\r\n");
}

TEST_F(HttpServerTest, TheHandlerGetsTheQueryAndSaysTheType) {
  Serve();

  const auto answer = Get(port(), "/echo?verbose&exclude=a%20b?");

  EXPECT_EQ(answer.body, "verbose&exclude=a%20b?");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: a/b\r\n"));
  EXPECT_EQ(Get(port(), "/echo").body, "");
  EXPECT_EQ(Get(port(), "/echo?").body, "");
}

TEST_F(HttpServerTest, AHeadIsAnsweredWithTheHeadAlone) {
  Serve();
  RawClient client(port());

  client.Send("HEAD /page HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_THAT(client.Read(true).head, HasSubstr("Content-Length: 6\r\n"));
  client.SendGet("/echo?after");
  EXPECT_EQ(client.Read().body, "after");
}

TEST_F(HttpServerTest, AnUnknownPathIsAnsweredWithThoseThereAre) {
  Serve();

  const auto answer = Get(port(), "/pages?x=y");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body,
            "nothing is served at \"/pages\", only at /broken /echo /large /page /slow\n");
  EXPECT_EQ(Get(port(), "/page/").status, 404);
}

TEST_F(HttpServerTest, AnotherMethodIsAnsweredWithThoseThatAreAllowed) {
  Serve();
  RawClient client(port());

  client.Send("POST /page HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc");
  const auto answer = client.Read();
  client.Send("BREW /page HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_EQ(answer.status, 405);
  EXPECT_THAT(answer.head, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_EQ(client.Read().status, 405) << "the connection goes on";
}

TEST_F(HttpServerTest, AHandlerThatThrowsIsAnsweredWithItsText) {
  Serve();

  const auto answer = Get(port(), "/broken");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "it broke\n");
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

class MalformedRequestTest : public HttpServerTest,
                             public ::testing::WithParamInterface<std::string> {};

TEST_P(MalformedRequestTest, IsAnsweredWith400AndTheEndOfTheConnection) {
  Serve();
  RawClient client(port());

  client.Send(GetParam());

  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, MalformedRequestTest,
    ::testing::Values("hello\r\n\r\n", "GET /page HTTP/2.0\r\nHost: a\r\n\r\n",
                      "GET /page HTTP/1.1\r\n\r\n",
                      "GET /page HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                      "GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                      "GET /page HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
                      "GET /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                      "\x16\x03\x01\x02\x03\x01\xfc\x03\x03"));  // a client that speaks TLS

TEST_F(HttpServerTest, OneConnectionCarriesManyRequests) {
  Serve();
  RawClient client(port());

  for (int i = 0; i < 100; ++i) {
    client.SendGet("/echo?" + std::to_string(i));
    EXPECT_EQ(client.Read().body, std::to_string(i));
  }
}

TEST_F(HttpServerTest, RequestsThatComeTogetherAreAnsweredInTurn) {
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

TEST_F(HttpServerTest, AConnectionEndsWhenTheClientAsksForIt) {
  Serve();
  RawClient closing(port());
  RawClient old(port());

  closing.SendGet("/page", "Connection: close\r\n");
  old.Send("GET /page HTTP/1.0\r\n\r\n");

  const std::string answer = closing.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\nhello\n"));
  EXPECT_THAT(old.ReadToEnd(), EndsWith("\r\n\r\nhello\n"));
}

TEST_F(HttpServerTest, AHandlerThatTakesLongKeepsNobodyElseFromTheRest) {
  Serve();
  const auto slow = SlowClient();

  EXPECT_EQ(Get(port(), "/none").status, 404);

  Proceed();
  EXPECT_EQ(slow->Read().body, "at last\n");
}

TEST_F(HttpServerTest, AStopWaitsForNoClient) {
  Serve();
  RawClient silent(port());
  RawClient half(port());
  half.Send("GET /pa");
  RawClient kept(port());
  kept.SendGet("/page");
  EXPECT_EQ(kept.Read().status, 200);
  RawClient deaf(port());
  deaf.SendGet("/large");
  EXPECT_TRUE(deaf.HearsWithin(5s));

  server_.reset();

  EXPECT_TRUE(silent.IsClosedWithin(5s));
  EXPECT_TRUE(half.IsClosedWithin(5s));
  EXPECT_TRUE(kept.IsClosedWithin(5s));
  EXPECT_LT(deaf.ReadToEnd().size(), kLarge);
}

TEST_F(HttpServerTest, AStopWaitsForTheHandlerThatRuns) {
  Serve();
  const auto slow = SlowClient();
  RawClient next(port());
  next.SendGet("/slow");
  std::jthread proceeding([this] { Proceed(); });

  server_.reset();

  EXPECT_TRUE(proceed_.try_wait());
  EXPECT_TRUE(slow->IsClosedWithin(5s));
  EXPECT_TRUE(next.IsClosedWithin(5s));
}

}  // namespace
}  // namespace kopp
