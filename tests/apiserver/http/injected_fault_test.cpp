// Tests of ApiHttpServer: injected faults, restarts, destruction and listen addresses.
#include "api_http_server_fixture.hpp"

#include <latch>
#include <stdexcept>
#include <thread>

#include <kopp/http_server.hpp>

namespace kopp {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(ApiHttpServerTest, DelayedResponseIsSentByTheServerClock) {
  handler_ = [](const ServerRequest& request) {
    if (request.target.path != "/late") return ServerResponse{};
    return ServerResponse{.body = "late", .injected_fault = {.delay = 10s}};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/late");
  clock_.AwaitSleepers(1);
  clock_.Advance(9s);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(Get("/").status, 200);  // the network thread has sent all earlier responses
  EXPECT_FALSE(client.ReceivesWithin(0ms));

  clock_.Advance(1s);

  EXPECT_EQ(client.Read().body, "late");
}

TEST_F(ApiHttpServerTest, ConnectionWithDelayedResponseIsClosedForNewClientAtConnectionLimit) {
  handler_ = [](const ServerRequest& request) {
    return request.target.path == "/late" ? ServerResponse{.injected_fault = {.delay = 10s}}
                                          : ServerResponse{};
  };
  options_.max_connections = 1;
  Serve();
  RawClient late(port());
  late.SendGet("/late");
  clock_.AwaitSleepers(1);

  EXPECT_EQ(Get("/").status, 200);
}

TEST_F(ApiHttpServerTest, ResetFaultClosesConnectionWithoutResponse) {
  handler_ = [](const ServerRequest&) { return ServerResponse{.injected_fault = {.reset = true}}; };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(ApiHttpServerTest, CutFaultTruncatesResponseBody) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.body = "whole", .injected_fault = {.cut_after = 2}};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\nwh"));
}

TEST_F(ApiHttpServerTest, TruncatedResponseIsReportedAsBrokenByClient) {
  options_.tls = true;
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.body = "whole", .injected_fault = {.cut_after = 2}};
  };
  Serve();

  try {
    Connect(config())->Call({.target = "/"});
    FAIL() << "Call did not throw";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kBroken);
  }
}

/// A watch response that returns "abc" on each read. If `aborted` is set, it returns "abc" once and
/// then reports that it is aborted.
class RepeatingWatchResponse final : public apiserver::WatchResponse {
 public:
  explicit RepeatingWatchResponse(bool aborted = false) : aborted_(aborted) {}
  std::string ReadFrames() override { return aborted_ && reads_++ > 0 ? "" : "abc"; }
  [[nodiscard]] bool ended() const override { return aborted_; }
  [[nodiscard]] bool aborted() const override { return aborted_; }
  [[nodiscard]] TimePoint wake_time() const override { return TimePoint::max(); }
  [[nodiscard]] const std::string& storage_resource() const override { return resource_; }

 private:
  const bool aborted_;
  int reads_ = 0;
  const std::string resource_ = "pods";
};

TEST_F(ApiHttpServerTest, CutFaultTruncatesWatchWithinAFrame) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.watch = std::make_unique<RepeatingWatchResponse>(),
                          .injected_fault = {.cut_after = 7}};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n1\r\na\r\n"));
}

TEST_F(ApiHttpServerTest, CutFaultTruncatesWatchBeforeFirstFrame) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.watch = std::make_unique<RepeatingWatchResponse>(),
                          .injected_fault = {.cut_after = 0}};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 OK"), EndsWith("\r\n\r\n")));
}

TEST_F(ApiHttpServerTest, BrokenWatchHasNoLastChunk) {
  handler_ = [](const ServerRequest&) {
    return ServerResponse{.watch = std::make_unique<RepeatingWatchResponse>(true)};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n3\r\nabc\r\n"));
}

// Restarts.

/// Returns whether a connection attempt fails.
bool RefusesConnections(std::uint16_t port) {
  try {
    const RawClient client(port);
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

/// Blocks until the port accepts connections. Returns false after kHangTimeout. The network thread
/// opens the port without a notification, so this polls.
bool AwaitOpenPort(std::uint16_t port) {
  const TimePoint deadline = Clock::Real().Now() + testing::kHangTimeout;
  while (RefusesConnections(port)) {
    if (Clock::Real().Now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_F(ApiHttpServerTest, RestartClosesAllConnections) {
  Serve();
  RawClient idle(port());
  idle.SendGet("/");
  EXPECT_EQ(idle.Read().status, 200);
  RawClient partial(port());
  partial.Send("GET /");

  lifecycle_.Restart({});

  EXPECT_TRUE(idle.AwaitClose());
  EXPECT_TRUE(partial.AwaitClose());
}

TEST_F(ApiHttpServerTest, ServerIsReachableWhenRestartReturns) {
  Serve();

  for (int i = 0; i < 10; ++i) {
    lifecycle_.Restart({});
    EXPECT_EQ(Get("/page").body, "/page");
  }
}

TEST_F(ApiHttpServerTest, PortIsClosedDuringRestartDowntime) {
  Serve();
  const std::uint16_t port = this->port();

  lifecycle_.Restart(10s);
  EXPECT_TRUE(RefusesConnections(port));
  clock_.AwaitSleepers(1);
  clock_.Advance(9s);
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(RefusesConnections(port));

  clock_.Advance(1s);
  ASSERT_TRUE(AwaitOpenPort(port));
  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(ApiHttpServerTest, SecondRestartReplacesDowntimeOfFirst) {
  Serve();
  const std::uint16_t port = this->port();
  lifecycle_.Restart(10s);

  lifecycle_.Restart({});

  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(ApiHttpServerTest, RestartRetriesWhilePortIsInUse) {
  Serve();
  const std::uint16_t port = this->port();
  lifecycle_.Restart(10s);
  {
    const HttpServer other({.address = "127.0.0.1:" + std::to_string(port)}, {});
    clock_.AwaitSleepers(1);
    clock_.Advance(10s);
    EXPECT_EQ(testing::Get(port, "/page").status, 404);
  }

  ASSERT_TRUE(AwaitOpenPort(port));
  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(ApiHttpServerTest, ConcurrentRestartsReturnAfterConnectionsAreClosed) {
  Serve();
  for (int i = 0; i < 50; ++i) {
    RawClient client(port());
    client.SendGet("/");
    EXPECT_EQ(client.Read().status, 200);
    const std::jthread other([this] { lifecycle_.Restart({}); });

    lifecycle_.Restart({});

    EXPECT_TRUE(client.AwaitBytes());  // without Restart, only after an hour
  }
}

TEST_F(ApiHttpServerTest, ResponseToClosedConnectionIsDiscarded) {
  std::latch entered(1);
  std::latch proceed(1);
  handler_ = [&](const ServerRequest& request) {
    if (request.target.path != "/slow") return ServerResponse{};
    entered.count_down();
    proceed.wait();
    return ServerResponse{};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/slow");
  entered.wait();

  lifecycle_.Restart({});
  proceed.count_down();

  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(Get("/").status, 200);
  http_server_.reset();  // waits for the handler, which uses the local latches
}

// Destruction.

TEST_F(ApiHttpServerTest, DestructorClosesConnectionsWithRequestsInProgress) {
  handler_ = [](const ServerRequest& request) {
    if (request.target.path == "/late") return ServerResponse{.injected_fault = {.delay = 10s}};
    return ServerResponse{.watch = std::make_unique<RepeatingWatchResponse>()};
  };
  Serve();
  RawClient idle(port());
  RawClient partial(port());
  RawClient late(port());
  RawClient watch(port());
  partial.Send("GET /");
  late.SendGet("/late");
  watch.SendGet("/watch");
  EXPECT_TRUE(watch.AwaitBytes());
  clock_.AwaitSleepers(1);

  http_server_.reset();

  EXPECT_TRUE(idle.AwaitClose());
  EXPECT_TRUE(partial.AwaitClose());
  EXPECT_TRUE(late.AwaitClose());
  EXPECT_THAT(watch.ReadToEnd(), Not(EndsWith("\r\n0\r\n\r\n")));
}

TEST_F(ApiHttpServerTest, DestructorWaitsForHandlerThatRestartsServer) {
  std::latch entered(1);
  std::latch proceed(1);
  handler_ = [&](const ServerRequest&) {
    entered.count_down();
    proceed.wait();
    for (int i = 0; i < 100; ++i) lifecycle_.Restart({});
    return ServerResponse{};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/");
  entered.wait();

  proceed.count_down();
  http_server_.reset();

  EXPECT_EQ(client.ReadToEnd(), "");
}

// Addresses.

/// Returns the message of the ConfigError that Listen() throws, or "none".
std::string ListenErrorMessage(const std::string& address) {
  testing::ApiServer server;
  try {
    server.Listen({.address = address});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_F(ApiHttpServerTest, ListenErrorForAddressInUseSuggestsAnotherPort) {
  Serve();
  const std::string address = "127.0.0.1:" + std::to_string(port());

  EXPECT_EQ(ListenErrorMessage(address),
            "cannot listen on " + address +
                ": Address already in use; another program listens there: end it, or choose "
                "another port");
}

TEST(ApiHttpServerAddressTest, ListenErrorForMalformedAddressShowsValidForms) {
  EXPECT_EQ(ListenErrorMessage("8080"),
            "cannot listen on \"8080\": write :8080 for all addresses, or 127.0.0.1:8080 or "
            "[::1]:8080 for one");
}

TEST(ApiHttpServerAddressTest, ListenCanBeCalledAgainAfterAnError) {
  testing::ApiServer server;
  EXPECT_THROW(server.Listen({.address = "8080"}), ConfigError);

  EXPECT_EQ(Connect(server.Listen())->Call({.target = "/readyz"}).status, 200);
}

TEST_F(ApiHttpServerTest, PortOnlyAddressListensOnIpv4AndIpv6) {
  options_.address = ":0";
  Serve();
  RawClient v6(port(), "::1");

  v6.SendGet("/page");

  EXPECT_EQ(v6.Read().body, "/page");
  EXPECT_THAT(config().server, StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(Connect(config())->Call({.target = "/page"}).body, "/page");
}

TEST_F(ApiHttpServerTest, ListensOnIpv6Address) {
  options_.address = "[::1]:0";
  options_.tls = true;
  Serve();

  EXPECT_THAT(config().server, StartsWith("https://[::1]:"));
  EXPECT_EQ(Connect(config())->Call({.target = "/page"}).body, "/page");
}

}  // namespace
}  // namespace kopp
