// Watches over a socket.
#include "front_fixture.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

/// A whole server, whose ConfigMaps are watched.
class FrontWatchTest : public ::testing::TestWithParam<bool> {
 protected:
  void Serve() {
    options_.tls = GetParam();
    config_ = server_.Listen(options_);
    transport_ = Connect(config_);
  }

  void Make(const std::string& name, const std::string& value = "") {
    client_.Create(ConfigMap::kKind, {{"metadata", {{"name", name}, {"namespace", "default"}}},
                                      {"data", {{"value", value}}}});
  }
  std::unique_ptr<Stream> Watch(const std::string& options = "") {
    return transport_->Open(
        {.target = std::string(kMaps) + "?watch=true&resourceVersion=0" + options});
  }
  /// What a watch says until it has said `count` lines.
  static std::string Lines(Stream& watch, int count) {
    std::string lines;
    while (count > 0) {
      const auto chunk = watch.Read(5s);
      EXPECT_EQ(chunk.state, Stream::State::kBytes) << lines;
      if (chunk.state != Stream::State::kBytes) break;
      lines += chunk.bytes;
      for (const char c : chunk.bytes) count -= c == '\n' ? 1 : 0;
    }
    return lines;
  }
  static void ExpectBroken(Stream& watch) {
    try {
      watch.Read(5s);
      ADD_FAILURE() << "the watch goes on";
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), TransportError::Kind::kBroken);
    }
  }

  testing::FakeClock clock_;
  testing::ListenOptions options_ = Patient();
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport()};
  Config config_;
  std::unique_ptr<Transport> transport_;
};

INSTANTIATE_TEST_SUITE_P(Over, FrontWatchTest, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "Https" : "Http"; });

TEST_P(FrontWatchTest, ItsHeadComesBeforeAnythingHappens) {
  Serve();

  EXPECT_EQ(Watch()->head().status, 200);
}

TEST_P(FrontWatchTest, WhatHappensIsSentAtOnce) {
  Serve();
  Make("a");
  const auto watch = Watch();
  EXPECT_THAT(Lines(*watch, 1), StartsWith(R"({"type":"ADDED")"));

  Make("b");
  EXPECT_THAT(Lines(*watch, 1), HasSubstr(R"("name":"b")"));
  Make("c");
  EXPECT_THAT(Lines(*watch, 1), HasSubstr(R"("name":"c")"));
}

TEST_P(FrontWatchTest, ItEndsInOrderByTheServersClock) {
  Serve();
  const auto watch = Watch("&timeoutSeconds=30");
  clock_.AwaitSleepers(1);

  clock_.Advance(30s);

  EXPECT_EQ(watch->Read(5s).state, Stream::State::kEnd);
}

TEST_P(FrontWatchTest, BookmarksComeByTheServersClock) {
  Serve();
  const auto watch = Watch("&allowWatchBookmarks=true&timeoutSeconds=300");
  clock_.AwaitSleepers(1);

  clock_.Advance(60s);

  EXPECT_THAT(Lines(*watch, 1), StartsWith(R"({"type":"BOOKMARK")"));
}

TEST_P(FrontWatchTest, ManySeeWhatManyDo) {
  Serve();
  std::vector<std::unique_ptr<Stream>> watches;
  for (int i = 0; i < 20; ++i) watches.push_back(Watch());

  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([this, writer] {
        for (int i = 0; i < 25; ++i) Make("m" + std::to_string(writer * 100 + i));
      });
    }
  }

  for (const auto& watch : watches) {
    const std::string seen = Lines(*watch, 100);
    for (int i = 0; i < 100; ++i) {
      const std::string name = "m" + std::to_string(i / 25 * 100 + i % 25);
      EXPECT_NE(seen.find("\"name\":\"" + name + '"'), std::string::npos) << name;
    }
  }
}

TEST_P(FrontWatchTest, ItIsBrokenWhenTheServerEnds) {
  auto server = std::make_unique<testing::ApiServer>();
  const auto transport = Connect(server->Listen({.tls = GetParam()}));
  const auto watch = transport->Open({.target = std::string(kMaps) + "?watch=true"});

  server.reset();

  ExpectBroken(*watch);
}

TEST_P(FrontWatchTest, AClientThatVanishesLeavesRoom) {
  options_.max_connections = 2;
  Serve();
  for (int i = 0; i < 10; ++i) Watch();

  Watch();
  EXPECT_EQ(transport_->Call({.target = kMaps}).status, 200);
}

TEST_P(FrontWatchTest, ItMakesNoRoomForOthers) {
  options_.max_connections = 2;
  Serve();
  const auto watch = Watch();

  for (int i = 0; i < 5; ++i) EXPECT_EQ(Connect(config_)->Call({.target = kMaps}).status, 200);

  Make("a");
  EXPECT_THAT(Lines(*watch, 1), HasSubstr(R"("name":"a")"));
}

// Slow clients.

/// Has always more to say.
class Flood final : public apiserver::Feed {
 public:
  static constexpr std::size_t kAtOnce = 1 << 20;

  explicit Flood(std::atomic<int>& taken) : taken_(taken) {}
  std::string Take() override {
    ++taken_;
    std::string much(kAtOnce, 'x');
    return much;
  }
  [[nodiscard]] bool ended() const override { return false; }
  [[nodiscard]] TimePoint next() const override { return TimePoint::max(); }
  [[nodiscard]] const std::string& resource() const override { return resource_; }

 private:
  std::atomic<int>& taken_;
  const std::string resource_ = "pods";
};

TEST_F(FrontTest, AWatchThatIsNotTakenCostsNoMemoryAndIsGivenUp) {
  std::atomic<int> taken = 0;
  answer_ = [&](const Ask& ask) {
    if (ask.target.path != "/watch") return Reply{};
    return Reply{.feed = std::make_unique<Flood>(taken)};
  };
  options_.max_connections = 1;
  options_.write_timeout = 100ms;
  Serve();
  RawClient deaf(port());
  deaf.SendGet("/watch");
  EXPECT_TRUE(deaf.HearsWithin(5s));

  EXPECT_EQ(Get("/").status, 200) << "when the first is given up";
  EXPECT_LT(taken, 64) << "more than what the kernel holds";
}

// Plain bytes.

TEST(FrontWatchBytesTest, ItIsInChunksAndTheLastOnItsConnection) {
  testing::FakeClock clock;
  testing::ApiServer server({.clock = clock});
  RawClient client(PortOf(server.Listen()));

  client.SendGet(std::string(kMaps) + "?watch=true&timeoutSeconds=5");
  clock.AwaitSleepers(1);
  clock.Advance(5s);

  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n0\r\n\r\n"));
}

TEST(FrontWatchBytesTest, AnOldClientGetsItWithoutChunks) {
  testing::FakeClock clock;
  testing::ApiServer server({.clock = clock});
  RawClient client(PortOf(server.Listen()));

  client.Send("GET " + std::string(kMaps) + "?watch=true&timeoutSeconds=5 HTTP/1.0\r\n\r\n");
  clock.AwaitSleepers(1);
  clock.Advance(5s);

  EXPECT_THAT(client.ReadToEnd(), EndsWith(" GMT\r\n\r\n"));
}

}  // namespace
}  // namespace kopp
