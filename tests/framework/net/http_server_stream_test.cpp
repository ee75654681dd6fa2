// Tests responses of HttpServer whose body is produced over time.
#include "http_server_fixture.hpp"

#include <atomic>
#include <deque>
#include <semaphore>

namespace kopp {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns a route whose response has `body`, followed by `pieces`.
HttpServer::Route StreamOf(const std::deque<std::string>& pieces, const std::string& body = "") {
  return [pieces, body](const HttpRequest&) {
    return HttpResponse{.body = body, .stream = [pieces = pieces]() mutable {
                          if (pieces.empty()) return std::string();
                          std::string piece = pieces.front();
                          pieces.pop_front();
                          return piece;
                        }};
  };
}

TEST_F(HttpServerTest, StreamIsSentInChunksUntilAnEmptyPiece) {
  routes_["/stream"] = StreamOf({"one", "two"}, "start ");
  Serve();
  RawClient client(port());

  client.SendGet("/stream");

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, HasSubstr("\r\nTransfer-Encoding: chunked\r\n"));
  EXPECT_THAT(response, Not(HasSubstr("Content-Length")));
  EXPECT_THAT(response, EndsWith("\r\n\r\n6\r\nstart \r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, StreamToHttp10ClientEndsWithTheConnection) {
  routes_["/stream"] = StreamOf({"one", "two"});
  Serve();
  RawClient client(port());

  client.Send("GET /stream HTTP/1.0\r\n\r\n");

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(response, EndsWith("\r\n\r\nonetwo"));
}

TEST_F(HttpServerTest, HeadOfAStreamDoesNotStartTheStream) {
  std::atomic<int> calls = 0;
  routes_["/stream"] = [&](const HttpRequest&) {
    return HttpResponse{.stream = [&] {
      ++calls;
      return std::string();
    }};
  };
  Serve();
  RawClient client(port());

  client.Send("HEAD /stream HTTP/1.1\r\nHost: test\r\n\r\n");
  EXPECT_EQ(client.Read(true).status, 200);
  client.SendGet("/page");

  EXPECT_EQ(client.Read().body, "hello\n");
  EXPECT_EQ(calls, 0);
}

TEST_F(HttpServerTest, PieceOfAStreamIsSentBeforeTheNextOneIsProduced) {
  std::binary_semaphore next(0);
  routes_["/stream"] = [&](const HttpRequest&) {
    return HttpResponse{.body = "first", .stream = [&] {
                          next.acquire();
                          return std::string();
                        }};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/stream");

  EXPECT_TRUE(client.AwaitBytes());

  next.release();
  EXPECT_THAT(client.ReadToEnd(), EndsWith("5\r\nfirst\r\n0\r\n\r\n"));
}

TEST_F(HttpServerTest, StreamProducesNothingWhileTheClientDoesNotRead) {
  std::atomic<std::size_t> produced = 0;
  options_.write_timeout = 50ms;
  options_.max_connections = 1;
  routes_["/stream"] = [&](const HttpRequest&) {
    return HttpResponse{.stream = [&] {
      produced += 1 << 20;
      return std::string(1 << 20, 'x');
    }};
  };
  Serve();
  RawClient stalled(port());

  stalled.SendGet("/stream");

  EXPECT_EQ(Get(port(), "/page").status, 200) << "after the first connection has timed out";
  EXPECT_LT(produced, kLarge);
}

TEST_F(HttpServerTest, ExceptionInAStreamResetsTheConnection) {
  routes_["/stream"] = [](const HttpRequest&) {
    return HttpResponse{.body = "first",
                        .stream = []() -> std::string { throw std::runtime_error("it broke"); }};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/stream");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("5\r\nfirst\r\n")) << "the body must be incomplete";
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, StreamIsNotCalledAgainAfterTheClientHasDisconnected) {
  std::binary_semaphore called(0);
  std::binary_semaphore next(0);
  std::atomic<int> calls = 0;
  options_.max_connections = 1;
  routes_["/stream"] = [&](const HttpRequest&) {
    return HttpResponse{.stream = [&] {
      ++calls;
      called.release();
      next.acquire();
      return std::string("piece");
    }};
  };
  Serve();
  {
    RawClient client(port());
    client.SendGet("/stream");
    called.acquire();
  }
  EXPECT_EQ(Get(port(), "/page").status, 200) << "after the first connection has closed";

  next.release();
  server_.reset();

  EXPECT_EQ(calls, 1);
}

TEST_F(HttpServerTest, DestructorEndsAnEndlessStream) {
  std::atomic<int> calls = 0;
  routes_["/stream"] = [&](const HttpRequest&) {
    return HttpResponse{.stream = [&] {
      ++calls;
      return std::string("piece");
    }};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/stream");
  EXPECT_TRUE(client.AwaitBytes());

  server_.reset();

  const int calls_at_the_end = calls;
  EXPECT_TRUE(client.AwaitClose());
  EXPECT_EQ(calls, calls_at_the_end);
}

}  // namespace
}  // namespace kopp
