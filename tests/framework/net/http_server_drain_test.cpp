// Tests that an HttpServer ends without cutting off a request.
#include "http_server_fixture.hpp"
#include "support/hang_timeout.hpp"

#include <chrono>
#include <future>

#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Drains `server` in another thread, without a deadline.
std::future<bool> DrainLater(HttpServer& server) {
  return std::async(std::launch::async,
                    [&server] { return server.Drain(Clock::Real(), TimePoint::max()); });
}

TEST_F(HttpServerTest, WithoutKeepAliveEachConnectionEndsAfterItsNextResponse) {
  HttpServer& server = Serve();
  RawClient idle(port());
  idle.SendGet("/page");
  EXPECT_THAT(idle.Read().head, Not(HasSubstr("Connection: close")));

  server.DisableKeepAlive();

  idle.SendGet("/page");
  EXPECT_THAT(idle.Read().head, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(idle.AwaitClose());
  RawClient later(port());
  later.SendGet("/page");
  EXPECT_THAT(later.Read().head, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, DrainClosesIdleConnectionsAndRefusesNewOnes) {
  HttpServer& server = Serve();
  RawClient idle(port());
  idle.SendGet("/page");
  EXPECT_EQ(idle.Read().body, "hello\n");

  EXPECT_TRUE(server.Drain(Clock::Real(), TimePoint::max()));

  EXPECT_TRUE(idle.AwaitClose());
  EXPECT_THROW(RawClient{port()}, std::system_error);
}

TEST_F(HttpServerTest, DrainWaitsForTheResponseOfARunningRequest) {
  HttpServer& server = Serve();
  RawClient idle(port());
  idle.SendGet("/page");
  EXPECT_EQ(idle.Read().body, "hello\n");
  auto client = SlowClient();
  std::future<bool> drained = DrainLater(server);
  EXPECT_TRUE(idle.AwaitClose());  // the server drains
  EXPECT_EQ(drained.wait_for(0s), std::future_status::timeout);

  Proceed();

  const auto response = client->Read();
  EXPECT_EQ(response.body, "at last\n");
  EXPECT_THAT(response.head, HasSubstr("Connection: close\r\n"));
  client.reset();
  EXPECT_TRUE(drained.get());
}

TEST_F(HttpServerTest, DrainClosesAConnectionAfterTheResponseThatIsBeingSent) {
  HttpServer& server = Serve();
  auto client = std::make_unique<RawClient>(port());
  client->SendGet("/large");
  EXPECT_TRUE(client->AwaitBytes());  // the server sends the response
  RawClient idle(port());
  idle.SendGet("/page");
  EXPECT_EQ(idle.Read().body, "hello\n");
  std::future<bool> drained = DrainLater(server);
  EXPECT_TRUE(idle.AwaitClose());  // the server drains

  EXPECT_EQ(client->Read().body.size(), kLarge);

  EXPECT_TRUE(client->AwaitClose());
  client.reset();
  EXPECT_TRUE(drained.get());
}

TEST_F(HttpServerTest, DrainWaitsForARequestThatIsStillBeingReceived) {
  HttpServer& server = Serve();
  auto client = std::make_unique<RawClient>(port());
  client->Send("GET /page HTTP/1.1\r\n");
  RawClient other(port());  // its response shows that the server has read the half request
  other.SendGet("/page");
  EXPECT_EQ(other.Read().body, "hello\n");
  std::future<bool> drained = DrainLater(server);
  EXPECT_TRUE(other.AwaitClose());  // the server drains
  EXPECT_EQ(drained.wait_for(0s), std::future_status::timeout);

  client->Send("Host: test\r\n\r\n");

  EXPECT_EQ(client->Read().body, "hello\n");
  client.reset();
  EXPECT_TRUE(drained.get());
}

TEST_F(HttpServerTest, DrainClosesConnectionsThatSendNoWholeRequest) {
  options_.drain_timeout = 1ms;
  HttpServer& server = Serve();
  RawClient silent(port());
  RawClient half_open(port());
  half_open.Send("GET /page HTTP/1.1\r\n");
  RawClient other(port());  // its response shows that the server has read the half request
  other.SendGet("/page");
  EXPECT_EQ(other.Read().body, "hello\n");

  EXPECT_TRUE(server.Drain(Clock::Real(), Clock::Real().Now() + testing::kHangTimeout));

  EXPECT_TRUE(silent.AwaitClose());
  EXPECT_TRUE(half_open.AwaitClose());
}

TEST_F(HttpServerTest, DrainReturnsFalseAtItsDeadlineAndCanBeCalledAgain) {
  HttpServer& server = Serve();
  auto client = SlowClient();
  testing::FakeClock clock;

  EXPECT_FALSE(server.Drain(clock, clock.Now()));

  Proceed();
  EXPECT_EQ(client->Read().body, "at last\n");
  client.reset();
  EXPECT_TRUE(server.Drain(clock, TimePoint::max()));
}

}  // namespace
}  // namespace kopp
