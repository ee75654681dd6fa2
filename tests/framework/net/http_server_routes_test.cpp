// Tests prefixes, methods, request bodies and threads of HttpServer's routes.
#include "http_server_fixture.hpp"

#include <vector>

#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;

/// Returns a route that responds with `text`.
HttpServer::Route Respond(const std::string& text) {
  return [text](const HttpRequest&) { return HttpResponse{.body = text}; };
}

/// Returns a route for POST that responds with the request body.
HttpServer::Route EchoBody() {
  return {[](const HttpRequest& request) { return HttpResponse{.body = request.body}; }, {"POST"}};
}

std::string Post(const std::string& target, const std::string& body,
                 const std::string& headers = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: test\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Prefixes.

TEST_F(HttpServerTest, PathThatEndsWithSlashServesItselfAndAllPathsBelowIt) {
  routes_["/debug/"] = [](const HttpRequest& request) {
    return HttpResponse{.body = "debug " + request.path};
  };
  Serve();

  EXPECT_EQ(Get(port(), "/debug/").body, "debug /debug/");
  EXPECT_EQ(Get(port(), "/debug/pprof/heap?seconds=1").body, "debug /debug/pprof/heap");
  EXPECT_EQ(Get(port(), "/debug").body, "debug /debug");
  EXPECT_EQ(Get(port(), "/debugger").status, 404);
}

TEST_F(HttpServerTest, LongestMatchingPrefixServesTheRequest) {
  routes_["/debug/"] = Respond("outer");
  routes_["/debug/pprof/"] = Respond("inner");
  routes_["/debug/pprof/heap"] = Respond("exact");
  Serve();

  EXPECT_EQ(Get(port(), "/debug/queue").body, "outer");
  EXPECT_EQ(Get(port(), "/debug/pprof").body, "inner");
  EXPECT_EQ(Get(port(), "/debug/pprof/goroutine").body, "inner");
  EXPECT_EQ(Get(port(), "/debug/pprof/heap").body, "exact");
  EXPECT_EQ(Get(port(), "/debug/pprof/heap/").body, "inner");
}

TEST_F(HttpServerTest, RootPrefixServesAllPathsWithoutRoute) {
  routes_["/"] = Respond("root");
  Serve();

  EXPECT_EQ(Get(port(), "/").body, "root");
  EXPECT_EQ(Get(port(), "/some/path").body, "root");
  EXPECT_EQ(Get(port(), "/page").body, "hello\n");
}

// Methods and bodies.

TEST_F(HttpServerTest, PostBodyIsPassedToTheHandler) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());

  client.Send(Post("/validate", R"({"kind":"AdmissionReview"})"));

  EXPECT_EQ(client.Read().body, R"({"kind":"AdmissionReview"})");
}

TEST_F(HttpServerTest, ChunkedRequestBodyIsDecoded) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());

  client.Send("POST /validate HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.Send("5\r\nhello\r\n");
  client.Send("6;x=y\r\n world\r\n0\r\nTrailer: a\r\n\r\n");

  EXPECT_EQ(client.Read().body, "hello world");
}

TEST_F(HttpServerTest, Sends100ContinueIfClientExpectsIt) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());
  const std::string request = Post("/validate", "body", "Expect: 100-continue\r\n");

  client.Send(request.substr(0, request.size() - 4));
  EXPECT_EQ(client.Read().status, 100);
  client.Send("body");

  EXPECT_EQ(client.Read().body, "body");
}

TEST_F(HttpServerTest, DoesNotSend100ContinueIfBodyHasArrived) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());

  client.Send(Post("/validate", "body", "Expect: 100-continue\r\n"));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpServerTest, TooLargeBodyIsRejectedBeforeItIsSentIfClientExpects100Continue) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());

  client.Send(
      "POST /validate HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n"
      "Content-Length: 4000000\r\n\r\n");

  EXPECT_EQ(client.Read().status, 413);
}

TEST_F(HttpServerTest, GetAndHeadOfAPostRouteReturn405) {
  routes_["/validate"] = EchoBody();
  Serve();
  RawClient client(port());

  client.SendGet("/validate");
  const auto response = client.Read();
  client.Send("HEAD /validate HTTP/1.1\r\nHost: test\r\n\r\n");

  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.head, HasSubstr("Allow: POST\r\n"));
  EXPECT_EQ(client.Read(true).status, 405);
}

TEST_F(HttpServerTest, RouteServesAllOfItsMethods) {
  routes_["/level"] = {[](const HttpRequest& request) {
                         return HttpResponse{.body = request.method + ' ' + request.body};
                       },
                       {"GET", "PUT"}};
  Serve();
  RawClient client(port());

  client.SendGet("/level");
  EXPECT_EQ(client.Read().body, "GET ");
  client.Send("PUT /level HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\ndebug");
  EXPECT_EQ(client.Read().body, "PUT debug");
  client.Send(Post("/level", ""));
  EXPECT_THAT(client.Read().head, HasSubstr("Allow: GET, HEAD, PUT\r\n"));
}

TEST_F(HttpServerTest, RequestHeadersArePassedToTheHandlerInLowerCase) {
  routes_["/token"] = [](const HttpRequest& request) {
    return HttpResponse{.body = std::string(request.Header("authorization")) + '|' +
                                std::string(request.Header("absent"))};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/token", "AUTHORIZATION: Bearer abc\r\n");

  EXPECT_EQ(client.Read().body, "Bearer abc|");
}

TEST_F(HttpServerTest, ResponseHeadersCannotContainLineBreaks) {
  routes_["/header"] = [](const HttpRequest&) {
    return HttpResponse{.headers = {{"X-Text", "a\r\nSet-Cookie: b"}}};
  };
  Serve();

  EXPECT_THAT(Get(port(), "/header").head, HasSubstr("\r\nX-Text: aSet-Cookie: b\r\n"));
}

// Threads.

/// A route whose handler blocks until Release() is called.
class BlockingRoute {
 public:
  explicit BlockingRoute(std::ptrdiff_t requests) : entered_(requests) {}

  [[nodiscard]] HttpServer::Route Route(std::size_t threads) {
    return {[this](const HttpRequest&) {
              entered_.count_down();
              released_.wait();
              return HttpResponse{.body = "released"};
            },
            {"GET"},
            threads};
  }
  /// Blocks until the number of requests that was passed to the constructor are being handled.
  void WaitForRequests() const { entered_.wait(); }
  void Release() { released_.count_down(); }

 private:
  std::latch entered_;
  std::latch released_{1};
};

TEST_F(HttpServerTest, SlowHandlerDoesNotDelayTheSlowHandlerOfAnotherRoute) {
  BlockingRoute first_route(1);
  BlockingRoute second_route(1);
  routes_["/first"] = first_route.Route(1);
  routes_["/second"] = second_route.Route(1);
  Serve();
  RawClient first(port());
  RawClient second(port());

  first.SendGet("/first");
  first_route.WaitForRequests();
  second.SendGet("/second");
  second_route.WaitForRequests();
  second_route.Release();

  EXPECT_EQ(second.Read().body, "released");
  first_route.Release();
  EXPECT_EQ(first.Read().body, "released");
}

TEST_F(HttpServerTest, RequestsOverTheLimitOfARouteAreRejectedWith429UntilOneIsDone) {
  routes_.at("/slow").max_in_flight = 2;
  Serve();
  const auto first = SlowClient();
  RawClient second(port());
  second.SendGet("/slow");  // waits for the thread of the route
  EXPECT_EQ(Get(port(), "/page").status, 200) << "the server has read the second request";

  const auto rejected = Get(port(), "/slow");

  EXPECT_EQ(rejected.status, 429);
  EXPECT_EQ(rejected.body, "too many requests: 2 are in progress\n");
  EXPECT_THAT(rejected.head, ::testing::HasSubstr("\r\nRetry-After: 1\r\n"));
  Proceed();
  EXPECT_EQ(first->Read().status, 200);
  EXPECT_EQ(second.Read().status, 200);
  EXPECT_EQ(Get(port(), "/slow").status, 200);
}

TEST_F(HttpServerTest, ARouteIsToldOfTheRequestsThatItsLimitsReject) {
  detail::Guarded<std::vector<int>> rejected;
  routes_.at("/slow").max_in_flight = 1;
  routes_.at("/slow").on_rejected = [&](int status) { rejected.Lock()->push_back(status); };
  Serve();
  const auto first = SlowClient();

  EXPECT_EQ(Get(port(), "/slow").status, 429);
  RawClient large(port());
  large.Send("GET /slow?x HTTP/1.1\r\nHost: t\r\nContent-Length: 4000000\r\n\r\n");
  EXPECT_EQ(large.Read().status, 413);
  RawClient wrong(port());
  wrong.Send(Post("/slow", "body"));
  EXPECT_EQ(wrong.Read().status, 405);

  EXPECT_THAT(*rejected.Lock(), ::testing::ElementsAre(429, 413));
  Proceed();
  EXPECT_EQ(first->Read().status, 200);
}

TEST_F(HttpServerTest, RouteHandlesAsManyRequestsAtOnceAsItHasThreads) {
  BlockingRoute route(2);
  routes_["/blocking"] = route.Route(2);
  Serve();
  RawClient first(port());
  RawClient second(port());

  first.SendGet("/blocking");
  second.SendGet("/blocking");
  route.WaitForRequests();
  route.Release();

  EXPECT_EQ(first.Read().body, "released");
  EXPECT_EQ(second.Read().body, "released");
}

}  // namespace
}  // namespace kopp
