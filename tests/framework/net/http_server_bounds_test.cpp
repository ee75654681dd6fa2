#include "http_server_fixture.hpp"

#include <memory>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace kopp {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;
using Clients = std::vector<std::unique_ptr<RawClient>>;

constexpr const char* kTooLargeHead = "HTTP/1.1 431 Request Header Fields Too Large\r\n";
constexpr const char* kTooLargeBody = "HTTP/1.1 413 Payload Too Large\r\n";

// Size limits.

// Returns a request whose head has `size` bytes.
std::string GetWithHead(std::size_t size) {
  const std::string start = "GET /page HTTP/1.1\r\nHost: test\r\nX: ";
  return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
}

// Returns a request whose body has `size` bytes.
std::string GetWithBody(std::size_t size) {
  return "GET /page HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) +
         "\r\n\r\n" + std::string(size, 'b');
}

TEST_F(HttpServerTest, TimeoutsThatAreNotPositiveAreRejected) {
  const auto options = options_;
  for (Duration HttpServerOptions::*timeout :
       {&HttpServerOptions::request_timeout, &HttpServerOptions::idle_timeout,
        &HttpServerOptions::write_timeout}) {
    for (const Duration value : {Duration(0), Duration(-1), Duration::min()}) {
      options_ = options;
      options_.*timeout = value;
      EXPECT_THROW(Serve(), std::invalid_argument);
    }
  }
}

TEST_F(HttpServerTest, RequestHeadAtTheLimitIsAccepted) {
  options_.max_head = 1000;
  Serve();
  RawClient client(port());

  client.Send(GetWithHead(1000));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpServerTest, RequestHeadOverTheLimitIsRejected) {
  options_.max_head = 1000;
  Serve();
  RawClient client(port());

  client.Send(GetWithHead(1001));

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith(kTooLargeHead));
  EXPECT_THAT(response, EndsWith("the head of a request is limited to 1000 bytes\n"));
}

TEST_F(HttpServerTest, RequestBodyAtTheLimitIsAccepted) {
  options_.max_body = 5000;
  Serve();
  RawClient client(port());

  client.Send(GetWithBody(5000));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpServerTest, RequestBodyOverTheLimitIsRejected) {
  options_.max_body = 5000;
  Serve();
  RawClient client(port());

  client.Send(GetWithBody(5001));

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, StartsWith(kTooLargeBody));
  EXPECT_THAT(response, EndsWith("the body of a request is limited to 5000 bytes\n"));
}

TEST_F(HttpServerTest, RequestBodyOverTheLimitDoesNotAffectOtherConnections) {
  options_.max_body = 5000;
  Serve();
  RawClient open(port());
  open.SendGet("/page");
  EXPECT_EQ(open.Read().status, 200);
  RawClient rejected(port());

  rejected.Send(GetWithBody(5001));

  EXPECT_EQ(rejected.Read().status, 413);
  open.SendGet("/page");
  EXPECT_EQ(open.Read().status, 200);
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ClientCanSendTooLargeBodyCompletelyAndReadTheRejection) {
  Serve();
  RawClient client(port());

  EXPECT_TRUE(client.Send(GetWithBody(20 << 20)));

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeBody));
}

TEST_F(HttpServerTest, ARouteHasItsOwnLimitOfTheBody) {
  options_.max_body = 5000;
  routes_.at("/page").max_body = 6000;
  Serve();

  RawClient accepted(port());
  accepted.Send(GetWithBody(6000));
  EXPECT_EQ(accepted.Read().status, 200);

  RawClient rejected(port());
  rejected.Send(GetWithBody(6001));
  EXPECT_THAT(rejected.ReadToEnd(), EndsWith("the body of a request is limited to 6000 bytes\n"));

  RawClient other_path(port());
  std::string request = GetWithBody(5001);
  other_path.Send(request.replace(request.find("/page"), 5, "/none"));
  EXPECT_THAT(other_path.ReadToEnd(), StartsWith(kTooLargeBody));
}

TEST_F(HttpServerTest, AChunkedBodyOverTheLimitOfItsRouteIsRejected) {
  routes_.at("/page").max_body = 100;
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" +
              std::string(101, 'b') + "\r\n0\r\n\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeBody));
}

// Timeouts.

TEST_F(HttpServerTest, RequestSentByteByByteTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.Send("GET /page?");

  EXPECT_TRUE(client.AwaitCloseWhileSending("x"));
}

TEST_F(HttpServerTest, AClientThatKeepsSendingAfterItsRejectionIsDisconnected) {
  Serve();
  RawClient client(port());
  const std::string bytes(64 << 10, 'x');
  const auto limit = std::chrono::steady_clock::now() + testing::kHangTimeout;

  client.Send("GET /page HTTP/1.1\r\nHost: test\r\nContent-Length: 4000000000\r\n\r\n");

  while (client.Send(bytes)) ASSERT_LT(std::chrono::steady_clock::now(), limit);
}

TEST_F(HttpServerTest, ConnectionWithoutARequestTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, RequestWithMissingBodyTimesOut) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page", "Content-Length: 10\r\n");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, IdleConnectionIsClosedAfterIdleTimeout) {
  options_.idle_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page");
  EXPECT_EQ(client.Read().status, 200);

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, SecondRequestOnAConnectionTimesOut) {
  options_.request_timeout = 2s;  // also for the first request, which must succeed
  Serve();
  RawClient client(port());
  client.SendGet("/page");
  EXPECT_EQ(client.Read().status, 200);

  client.Send("GET /pa");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, WriteTimesOutIfClientDoesNotReadTheResponse) {
  options_.max_connections = 1;
  options_.write_timeout = 50ms;
  Serve();
  RawClient stalled(port());
  stalled.SendGet("/large");
  EXPECT_TRUE(stalled.AwaitBytes());

  EXPECT_EQ(Get(port(), "/page").status, 200) << "after the first connection has timed out";
  EXPECT_LT(stalled.ReadToEnd().size(), kLarge);
}

// Connection limit.

TEST_F(HttpServerTest, IncompleteRequestsDoNotBlockNewClientsAtConnectionLimit) {
  Serve();
  Clients clients;
  for (std::size_t i = 0; i < 2 * options_.max_connections; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET /page HTTP/1.1\r\n");
  }

  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ConnectionsOfDisconnectedClientsAreReleased) {
  options_.max_connections = 4;
  Serve();
  for (int i = 0; i < 50; ++i) {
    RawClient client(port());
    client.Send("POST /page HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nhalf");
  }

  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, LongestIdleConnectionIsClosedForNewClientAtConnectionLimit) {
  options_.max_connections = 2;
  Serve();
  RawClient first(port());
  first.SendGet("/page");
  EXPECT_EQ(first.Read().status, 200);
  RawClient second(port());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);

  EXPECT_EQ(Get(port(), "/page").status, 200);

  EXPECT_TRUE(first.AwaitClose());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);
}

TEST_F(HttpServerTest, ConnectionWithRunningHandlerIsNotClosedAtConnectionLimit) {
  options_.max_connections = 1;
  Serve();
  const auto slow = SlowClient();
  RawClient next(port());
  next.SendGet("/none");

  EXPECT_FALSE(next.ReceivesWithin(50ms)) << "the server exceeds max_connections";
  Proceed();

  EXPECT_EQ(slow->Read().body, "at last\n");
  EXPECT_EQ(next.Read().status, 404);
}

TEST_F(HttpServerTest, AcceptsConnectionsAgainAfterRunningOutOfFileDescriptors) {
#if defined(__SANITIZE_ADDRESS__)  // UBSan has no macro, but these builds enable both
  GTEST_SKIP() << "UBSan needs a free file descriptor to check objects";
#endif
  Serve();
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit low_limit{.rlim_cur = 256, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &low_limit);
  std::vector<int> descriptors;
  for (int descriptor = ::dup(0); descriptor >= 0; descriptor = ::dup(0))
    descriptors.push_back(descriptor);
  ::close(descriptors.back());
  descriptors.pop_back();

  RawClient client(port());  // takes the last file descriptor
  client.SendGet("/page");
  EXPECT_FALSE(client.ReceivesWithin(50ms));
  for (const int descriptor : descriptors) ::close(descriptor);

  EXPECT_EQ(client.Read().status, 200);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Addresses.

// Returns the message of the ConfigError that HttpServer throws, or "none".
std::string ListenErrorMessageOf(const std::string& address) {
  try {
    const HttpServer server({.address = address}, {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_F(HttpServerTest, ListenErrorForAddressInUseSuggestsAnotherPort) {
  Serve();
  const std::string address = "127.0.0.1:" + std::to_string(port());

  EXPECT_EQ(ListenErrorMessageOf(address),
            "cannot listen on " + address +
                ": Address already in use; another program listens there: end it, or choose "
                "another port");
}

TEST(HttpServerAddressTest, ListenErrorForAddressOfAnotherMachineSuggestsAlternatives) {
  EXPECT_EQ(ListenErrorMessageOf("192.0.2.1:8080"),
            "cannot listen on 192.0.2.1:8080: Cannot assign requested address; this machine has no "
            "such address: choose one of its own, or all with :PORT");
}

TEST(HttpServerAddressTest, ListenErrorForUnresolvableNameSuggestsAnAddress) {
  EXPECT_THAT(ListenErrorMessageOf("no..name:8080"),
              AllOf(StartsWith("cannot listen on no..name:8080: Host not found"),
                    EndsWith("; write an address instead of the name")));
}

TEST(HttpServerAddressTest, ListenErrorForMalformedAddressShowsValidForms) {
  EXPECT_EQ(ListenErrorMessageOf("8080"),
            "cannot listen on \"8080\": write :8080 for all addresses, or 127.0.0.1:8080 or "
            "[::1]:8080 for one");
}

TEST_F(HttpServerTest, AddressAndPortReturnTheBoundEndpoint) {
  Serve();

  EXPECT_NE(server_->port(), 0);
  EXPECT_EQ(server_->address(), "127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(HttpServerTest, PortCanBeReusedImmediatelyAfterDestruction) {
  Serve();
  RawClient client(port());
  client.SendGet("/page", "Connection: close\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("hello\n"));  // the server closes first
  options_.address = server_->address();
  server_.reset();

  Serve();

  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ListensOnIpv6Address) {
  options_.address = "[::1]:0";
  Serve();
  RawClient client(port(), "::1");

  client.SendGet("/page");

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(server_->address(), "[::1]:" + std::to_string(port()));
}

TEST_F(HttpServerTest, PortOnlyAddressListensOnIpv4AndIpv6) {
  options_.address = ":0";
  Serve();
  RawClient v6(port(), "::1");

  v6.SendGet("/page");

  EXPECT_EQ(v6.Read().status, 200);
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ListensOnHostName) {
  options_.address = "localhost:0";

  Serve();

  EXPECT_NE(port(), 0);
}

}  // namespace
}  // namespace kopp
