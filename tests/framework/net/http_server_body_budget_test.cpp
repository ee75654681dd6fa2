#include "http_server_fixture.hpp"

#include <thread>

// Tests the limit of the bodies of all requests of a route together.
namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string RequestWithBody(std::size_t size, const std::string& path = "/page") {
  return "GET " + path + " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) +
         "\r\n\r\n" + std::string(size, 'b');
}

class HttpServerBodyBudgetTest : public HttpServerTest {
 protected:
  /// Sends a request on a new connection, and returns the status of the response.
  [[nodiscard]] int StatusOf(const std::string& request) const {
    RawClient client(port());
    client.Send(request);
    return client.Read().status;
  }
};

TEST_F(HttpServerBodyBudgetTest, ARequestThatAnnouncesMoreBytesThanAreFreeIsRejectedWith429) {
  routes_.at("/slow").max_body_bytes_in_flight = 5000;
  Serve();
  RawClient first(port());
  first.Send(RequestWithBody(3000, "/slow"));
  entered_.wait();

  RawClient second(port());
  second.Send("GET /slow HTTP/1.1\r\nHost: test\r\nContent-Length: 2001\r\n\r\n");

  const std::string rejected = second.ReadToEnd();
  EXPECT_THAT(rejected, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(rejected, HasSubstr("\r\nRetry-After: 1\r\n"));
  RawClient third(port());
  third.Send(RequestWithBody(2000, "/slow"));
  Proceed();
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(third.Read().status, 200);
  EXPECT_EQ(StatusOf(RequestWithBody(5000, "/slow")), 200) << "the bytes are free again";
}

TEST_F(HttpServerBodyBudgetTest, TheBytesOfARouteDoNotLimitOtherRoutes) {
  routes_.at("/slow").max_body_bytes_in_flight = 5000;
  routes_.at("/page").max_body_bytes_in_flight = 5000;
  Serve();
  RawClient first(port());
  first.Send(RequestWithBody(5000, "/slow"));
  entered_.wait();

  EXPECT_EQ(StatusOf(RequestWithBody(1, "/slow")), 429);
  EXPECT_EQ(StatusOf(RequestWithBody(5000, "/page")), 200) << "it has bytes of its own";
  EXPECT_EQ(StatusOf(RequestWithBody(5000, "/echo")), 200) << "it has no limit";
  Proceed();
  EXPECT_EQ(first.Read().status, 200);
}

TEST_F(HttpServerBodyBudgetTest, ARequestThatSendsMoreBytesThanAreFreeIsRejectedWith429) {
  constexpr const char* kChunkedHead =
      "GET /page HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "bb8\r\n" + std::string(3000, 'b') + "\r\n";
  routes_.at("/page").max_body_bytes_in_flight = 5000;
  Serve();
  RawClient first(port());
  first.Send(kChunkedHead + chunk);
  EXPECT_EQ(Get(port(), "/page").status, 200) << "the server has read the first body";

  EXPECT_EQ(StatusOf(kChunkedHead + chunk), 429);

  first.Send("0\r\n\r\n");
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(StatusOf(kChunkedHead + chunk + "0\r\n\r\n"), 200);
}

TEST_F(HttpServerBodyBudgetTest, AnAnnouncedBodyThatDoesNotArriveHoldsNoBytes) {
  routes_.at("/page").max_body_bytes_in_flight = 5000;
  Serve();
  RawClient silent(port());
  silent.Send("GET /page HTTP/1.1\r\nHost: test\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(Get(port(), "/page").status, 200) << "the server has read the first head";

  EXPECT_EQ(StatusOf(RequestWithBody(5000)), 200);
}

TEST_F(HttpServerBodyBudgetTest, TheBytesOfAClosedConnectionAreFree) {
  routes_.at("/page").max_body_bytes_in_flight = 5000;
  Serve();
  {
    RawClient closed(port());
    closed.Send("GET /page HTTP/1.1\r\nHost: test\r\nContent-Length: 5000\r\n\r\n" +
                std::string(4000, 'b'));
  }
  while (StatusOf(RequestWithBody(5000)) == 429) std::this_thread::yield();
  EXPECT_EQ(StatusOf(RequestWithBody(5000)), 200);
}

TEST_F(HttpServerBodyBudgetTest, TheBytesOfARequestAreInUseUntilItsResponseIsSent) {
  routes_.at("/large").max_body_bytes_in_flight = 5000;
  Serve();
  RawClient slow(port());
  slow.Send(RequestWithBody(3000, "/large"));
  EXPECT_EQ(Get(port(), "/large").status, 200) << "the only thread has handled the first request";

  EXPECT_EQ(StatusOf(RequestWithBody(3000, "/large")), 429);

  EXPECT_EQ(slow.Read().status, 200);
  EXPECT_EQ(StatusOf(RequestWithBody(3000, "/large")), 200);
}

}  // namespace
}  // namespace kopp
