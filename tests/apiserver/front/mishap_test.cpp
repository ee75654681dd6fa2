// What goes wrong on purpose, and servers that end.
#include "front_fixture.hpp"

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

TEST_F(FrontTest, ADelayedAnswerComesByTheServersClock) {
  answer_ = [](const Ask&) { return Reply{.body = "late", .mishap = {.delay = 10s}}; };
  Serve();
  RawClient client(port());
  client.SendGet("/");
  clock_.AwaitSleepers(1);
  clock_.Advance(9s);
  clock_.AwaitSleepers(1);
  EXPECT_FALSE(client.HearsWithin(20ms));

  clock_.Advance(1s);

  EXPECT_EQ(client.Read().body, "late");
}

TEST_F(FrontTest, WhoWaitsForADelayedAnswerMakesRoomForOthers) {
  answer_ = [](const Ask& ask) {
    return ask.target.path == "/late" ? Reply{.mishap = {.delay = 10s}} : Reply{};
  };
  options_.max_connections = 1;
  Serve();
  RawClient late(port());
  late.SendGet("/late");
  clock_.AwaitSleepers(1);

  EXPECT_EQ(Get("/").status, 200);
}

TEST_F(FrontTest, AResetConnectionHasNoAnswer) {
  answer_ = [](const Ask&) { return Reply{.mishap = {.reset = true}}; };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(FrontTest, AnAnswerIsCutAfterSoManyBytesOfItsBody) {
  answer_ = [](const Ask&) { return Reply{.body = "whole", .mishap = {.cut_after = 2}}; };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\nwh"));
}

TEST_F(FrontTest, ACutAnswerIsBrokenForAClient) {
  options_.tls = true;
  answer_ = [](const Ask&) { return Reply{.body = "whole", .mishap = {.cut_after = 2}}; };
  Serve();

  try {
    Connect(config())->Call({.target = "/"});
    FAIL() << "there was an answer";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kBroken);
  }
}

/// Says "abc" whenever it is asked; or once, and breaks off.
class Alphabet final : public apiserver::Feed {
 public:
  explicit Alphabet(bool breaks = false) : breaks_(breaks) {}
  std::string Take() override { return breaks_ && taken_++ > 0 ? "" : "abc"; }
  [[nodiscard]] bool ended() const override { return breaks_; }
  [[nodiscard]] bool broken() const override { return breaks_; }
  [[nodiscard]] TimePoint next() const override { return TimePoint::max(); }
  [[nodiscard]] const std::string& resource() const override { return resource_; }

 private:
  const bool breaks_;
  int taken_ = 0;
  const std::string resource_ = "pods";
};

TEST_F(FrontTest, AWatchIsCutAtAnyByte) {
  answer_ = [](const Ask&) {
    return Reply{.feed = std::make_unique<Alphabet>(), .mishap = {.cut_after = 7}};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n3\r\nabc\r\n3\r\nabc\r\n1\r\na\r\n"));
}

TEST_F(FrontTest, AWatchIsCutBeforeItsFirstByte) {
  answer_ = [](const Ask&) {
    return Reply{.feed = std::make_unique<Alphabet>(), .mishap = {.cut_after = 0}};
  };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), AllOf(StartsWith("HTTP/1.1 200 OK"), EndsWith("\r\n\r\n")));
}

TEST_F(FrontTest, AWatchThatIsBrokenOffHasNoEnd) {
  answer_ = [](const Ask&) { return Reply{.feed = std::make_unique<Alphabet>(true)}; };
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\n3\r\nabc\r\n"));
}

// Restarts.

bool IsRefused(std::uint16_t port) {
  try {
    const RawClient client(port);
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

// The network's thread opens it, and says so to nobody.
bool OpensBeforeLong(std::uint16_t port) {
  const TimePoint deadline = Clock::Real().Now() + 5s;
  while (IsRefused(port)) {
    if (Clock::Real().Now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_F(FrontTest, ARestartCutsAllConnections) {
  Serve();
  RawClient idle(port());
  idle.SendGet("/");
  EXPECT_EQ(idle.Read().status, 200);
  RawClient half(port());
  half.Send("GET /");

  uptime_.Restart({});

  EXPECT_TRUE(idle.IsClosedWithin(5s));
  EXPECT_TRUE(half.IsClosedWithin(5s));
}

TEST_F(FrontTest, ItIsThereAgainWhenARestartReturns) {
  Serve();

  for (int i = 0; i < 10; ++i) {
    uptime_.Restart({});
    EXPECT_EQ(Get("/page").body, "/page");
  }
}

TEST_F(FrontTest, ThePortIsClosedForAsLongAsTheRestartTakes) {
  Serve();
  const std::uint16_t port = this->port();

  uptime_.Restart(10s);
  EXPECT_TRUE(IsRefused(port));
  clock_.AwaitSleepers(1);
  clock_.Advance(9s);
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(IsRefused(port));

  clock_.Advance(1s);
  ASSERT_TRUE(OpensBeforeLong(port));
  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(FrontTest, ARestartDuringARestartCountsFromItself) {
  Serve();
  const std::uint16_t port = this->port();
  uptime_.Restart(10s);

  uptime_.Restart({});

  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(FrontTest, APortThatIsTakenMeanwhileIsWaitedFor) {
  Serve();
  const std::uint16_t port = this->port();
  uptime_.Restart(10s);
  {
    const HttpServer other({.address = "127.0.0.1:" + std::to_string(port)}, {});
    clock_.AwaitSleepers(1);
    clock_.Advance(10s);
    EXPECT_EQ(testing::Get(port, "/page").status, 404);
  }

  ASSERT_TRUE(OpensBeforeLong(port));
  EXPECT_EQ(testing::Get(port, "/page").body, "/page");
}

TEST_F(FrontTest, OfTwoRestartsAtOnceNeitherReturnsBeforeTheConnectionsAreCut) {
  Serve();
  for (int i = 0; i < 50; ++i) {
    RawClient client(port());
    client.SendGet("/");
    EXPECT_EQ(client.Read().status, 200);
    const std::jthread other([this] { uptime_.Restart({}); });

    uptime_.Restart({});

    EXPECT_TRUE(client.HearsWithin(0ms));
  }
}

TEST_F(FrontTest, WhatIsAnsweredToTheDeadIsDropped) {
  std::latch entered(1);
  std::latch proceed(1);
  answer_ = [&](const Ask& ask) {
    if (ask.target.path != "/slow") return Reply{};
    entered.count_down();
    proceed.wait();
    return Reply{};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/slow");
  entered.wait();

  uptime_.Restart({});
  proceed.count_down();

  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(Get("/").status, 200);
  front_.reset();  // its answer may still be about to leave the latch
}

// Ends.

TEST_F(FrontTest, ItsEndCutsWhatIsUnderWay) {
  answer_ = [](const Ask& ask) {
    if (ask.target.path == "/late") return Reply{.mishap = {.delay = 10s}};
    return Reply{.feed = std::make_unique<Alphabet>()};
  };
  Serve();
  RawClient idle(port());
  RawClient half(port());
  RawClient late(port());
  RawClient watch(port());
  half.Send("GET /");
  late.SendGet("/late");
  watch.SendGet("/watch");
  EXPECT_TRUE(watch.HearsWithin(5s));
  clock_.AwaitSleepers(1);

  front_.reset();

  EXPECT_TRUE(idle.IsClosedWithin(5s));
  EXPECT_TRUE(half.IsClosedWithin(5s));
  EXPECT_TRUE(late.IsClosedWithin(5s));
  EXPECT_THAT(watch.ReadToEnd(), Not(EndsWith("\r\n0\r\n\r\n")));
}

TEST_F(FrontTest, ItsEndWaitsForWhoRestartsItMeanwhile) {
  std::latch entered(1);
  std::latch proceed(1);
  answer_ = [&](const Ask&) {
    entered.count_down();
    proceed.wait();
    for (int i = 0; i < 100; ++i) uptime_.Restart({});
    return Reply{};
  };
  Serve();
  RawClient client(port());
  client.SendGet("/");
  entered.wait();

  proceed.count_down();
  front_.reset();

  EXPECT_EQ(client.ReadToEnd(), "");
}

// Addresses.

std::string FailureToListen(const std::string& address) {
  testing::ApiServer server;
  try {
    server.Listen({.address = address});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST_F(FrontTest, AnAddressInUseIsSaidWithWhatToDo) {
  Serve();
  const std::string address = "127.0.0.1:" + std::to_string(port());

  EXPECT_EQ(FailureToListen(address),
            "cannot listen on " + address +
                ": Address already in use; another program listens there: end it, or choose "
                "another port");
}

TEST(FrontAddressTest, WhatIsNoAddressIsSaidWithWhatToWrite) {
  EXPECT_EQ(FailureToListen("8080"),
            "cannot listen on \"8080\": write :8080 for all addresses, or 127.0.0.1:8080 or "
            "[::1]:8080 for one");
}

TEST(FrontAddressTest, AnotherCanBeTriedAfterAFailure) {
  testing::ApiServer server;
  EXPECT_THROW(server.Listen({.address = "8080"}), ConfigError);

  EXPECT_EQ(Connect(server.Listen())->Call({.target = "/readyz"}).status, 200);
}

TEST_F(FrontTest, AllAddressesAreReachedByTheLoopback) {
  options_.address = ":0";
  Serve();
  RawClient v6(port(), "::1");

  v6.SendGet("/page");

  EXPECT_EQ(v6.Read().body, "/page");
  EXPECT_THAT(config().server, StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(Connect(config())->Call({.target = "/page"}).body, "/page");
}

TEST_F(FrontTest, AnIpv6AddressIsListenedOn) {
  options_.address = "[::1]:0";
  options_.tls = true;
  Serve();

  EXPECT_THAT(config().server, StartsWith("https://[::1]:"));
  EXPECT_EQ(Connect(config())->Call({.target = "/page"}).body, "/page");
}

}  // namespace
}  // namespace kopp
