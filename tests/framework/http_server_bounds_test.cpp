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

// Sizes.

// A request whose head has `size` bytes.
std::string WithHead(std::size_t size) {
  const std::string start = "GET /page HTTP/1.1\r\nHost: test\r\nX: ";
  return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
}

std::string WithBody(std::size_t size) {
  return "GET /page HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(size) +
         "\r\n\r\n" + std::string(size, 'b');
}

TEST_F(HttpServerTest, AHeadAtTheLimitIsTaken) {
  options_.max_head = 1000;
  Serve();
  RawClient client(port());

  client.Send(WithHead(1000));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpServerTest, AHeadOverTheLimitIsRefused) {
  options_.max_head = 1000;
  Serve();
  RawClient client(port());

  client.Send(WithHead(1001));

  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, StartsWith(kTooLargeHead));
  EXPECT_THAT(answer, EndsWith("the head of a request is limited to 1000 bytes\n"));
}

TEST_F(HttpServerTest, AHeadWithoutAnEndIsRefused) {
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.1\r\nHost: test\r\nX: " + std::string(10 << 20, 'x'));

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeHead));
}

TEST_F(HttpServerTest, ABodyAtTheLimitIsTaken) {
  options_.max_body = 5000;
  Serve();
  RawClient client(port());

  client.Send(WithBody(5000));

  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(HttpServerTest, ABodyOverTheLimitIsRefused) {
  options_.max_body = 5000;
  Serve();
  RawClient client(port());

  client.Send(WithBody(5001));

  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, StartsWith(kTooLargeBody));
  EXPECT_THAT(answer, EndsWith("the body of a request is limited to 5000 bytes\n"));
}

TEST_F(HttpServerTest, ALargeBodyCanBeSentToItsEndAndThenTheRefusalRead) {
  Serve();
  RawClient client(port());

  EXPECT_TRUE(client.Send(WithBody(20 << 20)));

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeBody));
}

TEST_F(HttpServerTest, ABodyInChunksOverTheLimitIsRefused) {
  options_.max_body = 5000;
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 6; ++i) client.Send("3e8\r\n" + std::string(1000, 'b') + "\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeBody));
}

TEST_F(HttpServerTest, TrailersWithoutAnEndAreRefused) {
  Serve();
  RawClient client(port());

  client.Send("GET /page HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
  for (int i = 0; i < 1000; ++i) client.Send("X: " + std::string(1000, 'x') + "\r\n");

  EXPECT_THAT(client.ReadToEnd(), StartsWith(kTooLargeHead));
}

// Deadlines.

TEST_F(HttpServerTest, ARequestThatComesByteByByteHasAnEnd) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.Send("GET /page?");

  EXPECT_TRUE(client.IsClosedWhileItSends("x"));
}

TEST_F(HttpServerTest, AClientThatNeverSaysAnythingIsLetGo) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, ABodyThatNeverComesHasAnEnd) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page", "Content-Length: 10\r\n");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, AConnectionThatIsNotUsedAgainIsClosed) {
  options_.idle_timeout = 50ms;
  Serve();
  RawClient client(port());

  client.SendGet("/page");
  EXPECT_EQ(client.Read().status, 200);

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, AnotherRequestHasItsOwnDeadline) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient client(port());
  client.SendGet("/page");
  EXPECT_EQ(client.Read().status, 200);

  client.Send("GET /pa");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(HttpServerTest, AnAnswerThatIsNotTakenIsGivenUp) {
  options_.max_connections = 1;
  options_.write_timeout = 50ms;
  Serve();
  RawClient deaf(port());
  deaf.SendGet("/large");
  EXPECT_TRUE(deaf.HearsWithin(5s));

  EXPECT_EQ(Get(port(), "/page").status, 200) << "when the first is given up";
  EXPECT_LT(deaf.ReadToEnd().size(), kLarge);
}

// Connections.

TEST_F(HttpServerTest, HalfOpenConnectionsDoNotKeepAScrapeWaiting) {
  Serve();
  Clients clients;
  for (std::size_t i = 0; i < 2 * options_.max_connections; ++i) {
    clients.push_back(std::make_unique<RawClient>(port()));
    clients.back()->Send("GET /page HTTP/1.1\r\n");
  }

  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, TheConnectionThatWaitedLongestMakesRoomForAnother) {
  options_.max_connections = 2;
  Serve();
  RawClient first(port());
  first.SendGet("/page");
  EXPECT_EQ(first.Read().status, 200);
  RawClient second(port());
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);

  EXPECT_EQ(Get(port(), "/page").status, 200);

  EXPECT_TRUE(first.IsClosedWithin(5s));
  second.SendGet("/page");
  EXPECT_EQ(second.Read().status, 200);
}

TEST_F(HttpServerTest, AConnectionThatIsBeingAnsweredDoesNotMakeRoom) {
  options_.max_connections = 1;
  Serve();
  const auto slow = SlowClient();
  RawClient next(port());
  next.SendGet("/none");

  EXPECT_FALSE(next.HearsWithin(50ms)) << "more than max_connections at once";
  Proceed();

  EXPECT_EQ(slow->Read().body, "at last\n");
  EXPECT_EQ(next.Read().status, 404);
}

TEST_F(HttpServerTest, AProcessOutOfDescriptorsTakesConnectionsLater) {
#if defined(__SANITIZE_ADDRESS__)  // and with it UBSan, which nothing else tells
  GTEST_SKIP() << "UBSan looks at objects through descriptors, and takes them for broken without";
#endif
  Serve();
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit few{.rlim_cur = 256, .rlim_max = limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> descriptors;
  for (int one = ::dup(0); one >= 0; one = ::dup(0)) descriptors.push_back(one);
  ::close(descriptors.back());
  descriptors.pop_back();

  RawClient client(port());  // has the last one
  client.SendGet("/page");
  EXPECT_FALSE(client.HearsWithin(50ms));
  for (const int one : descriptors) ::close(one);

  EXPECT_EQ(client.Read().status, 200);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Addresses.

std::string FailureToServe(const std::string& address) {
  try {
    const HttpServer server({.address = address}, {});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_F(HttpServerTest, AnAddressInUseIsSaidWithWhatToDo) {
  Serve();
  const std::string address = "127.0.0.1:" + std::to_string(port());

  EXPECT_EQ(FailureToServe(address),
            "cannot listen on " + address +
                ": Address already in use; another program listens there: end it, or choose "
                "another port");
}

TEST(HttpServerAddressTest, AnAddressOfAnotherMachineIsSaidWithWhatToDo) {
  EXPECT_EQ(FailureToServe("192.0.2.1:8080"),
            "cannot listen on 192.0.2.1:8080: Cannot assign requested address; this machine has no "
            "such address: choose one of its own, or all with :PORT");
}

TEST(HttpServerAddressTest, ANameWithoutAnAddressIsSaidWithWhatToDo) {
  EXPECT_THAT(FailureToServe("no..name:8080"),
              AllOf(StartsWith("cannot listen on no..name:8080: Host not found"),
                    EndsWith("; write an address instead of the name")));
}

TEST(HttpServerAddressTest, WhatIsNoAddressIsSaidWithWhatToWrite) {
  EXPECT_EQ(FailureToServe("8080"),
            "cannot listen on \"8080\": write :8080 for all addresses, or 127.0.0.1:8080 or "
            "[::1]:8080 for one");
}

TEST_F(HttpServerTest, AServerTellsWhereItListens) {
  Serve();

  EXPECT_NE(server_->port(), 0);
  EXPECT_EQ(server_->address(), "127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(HttpServerTest, APortCanBeListenedOnAgainAtOnce) {
  Serve();
  RawClient client(port());
  client.SendGet("/page", "Connection: close\r\n");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("hello\n"));  // so that the server's end closed first
  options_.address = server_->address();
  server_.reset();

  Serve();

  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, AnIpv6AddressIsListenedOn) {
  options_.address = "[::1]:0";
  Serve();
  RawClient client(port(), "::1");

  client.SendGet("/page");

  EXPECT_EQ(client.Read().status, 200);
  EXPECT_EQ(server_->address(), "[::1]:" + std::to_string(port()));
}

TEST_F(HttpServerTest, APortAloneIsListenedOnWithBothFamilies) {
  options_.address = ":0";
  Serve();
  RawClient v6(port(), "::1");

  v6.SendGet("/page");

  EXPECT_EQ(v6.Read().status, 200);
  EXPECT_EQ(Get(port(), "/page").status, 200);
}

TEST_F(HttpServerTest, ANameIsListenedOn) {
  options_.address = "localhost:0";

  Serve();

  EXPECT_NE(port(), 0);
}

}  // namespace
}  // namespace kopp
