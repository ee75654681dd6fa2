// Tests of watches through ApiHttpServer.
#include "api_http_server_fixture.hpp"

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

/// Fixture with an API server and watches of its ConfigMaps. The parameter selects TLS.
class ApiHttpServerWatchTest : public ::testing::TestWithParam<bool> {
 protected:
  void Serve() {
    options_.tls = GetParam();
    config_ = server_.Listen(options_);
    transport_ = Connect(config_);
  }

  void CreateMap(const std::string& name, const std::string& value = "") {
    client_.Create<ConfigMap>(
        {{"metadata", {{"name", name}, {"namespace", "default"}}}, {"data", {{"value", value}}}});
  }
  std::unique_ptr<Stream> Watch(const std::string& options = "") {
    return transport_->Open(
        {.target = std::string(kMaps) + "?watch=true&resourceVersion=0" + options});
  }
  /// Reads from a watch until it has returned `count` lines.
  static std::string ReadLines(Stream& watch, int count) {
    std::string lines;
    while (count > 0) {
      const auto chunk = watch.Read(testing::kHangTimeout);
      EXPECT_EQ(chunk.state, Stream::State::kBytes) << lines;
      if (chunk.state != Stream::State::kBytes) break;
      lines += chunk.bytes;
      for (const char c : chunk.bytes) count -= c == '\n' ? 1 : 0;
    }
    return lines;
  }
  /// Expects that the next read throws TransportError::Kind::kBroken.
  static void ExpectBroken(Stream& watch) {
    try {
      watch.Read(testing::kHangTimeout);
      ADD_FAILURE() << "Read did not throw";
    } catch (const TransportError& error) {
      EXPECT_EQ(error.kind(), TransportError::Kind::kBroken);
    }
  }

  testing::FakeClock clock_;
  testing::ListenOptions options_ = LongTimeouts();
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport()};
  Config config_;
  std::unique_ptr<Transport> transport_;
};

INSTANTIATE_TEST_SUITE_P(Schemes, ApiHttpServerWatchTest, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "Https" : "Http"; });

TEST_P(ApiHttpServerWatchTest, ResponseHeadIsSentBeforeTheFirstEvent) {
  Serve();

  EXPECT_EQ(Watch()->head().status, 200);
}

TEST_P(ApiHttpServerWatchTest, EventsAreSentImmediately) {
  Serve();
  CreateMap("a");
  const auto watch = Watch();
  EXPECT_THAT(ReadLines(*watch, 1), StartsWith(R"({"type":"ADDED")"));

  CreateMap("b");
  EXPECT_THAT(ReadLines(*watch, 1), HasSubstr(R"("name":"b")"));
  CreateMap("c");
  EXPECT_THAT(ReadLines(*watch, 1), HasSubstr(R"("name":"c")"));
}

TEST_P(ApiHttpServerWatchTest, WatchEndsWithoutErrorAfterTimeoutOnServerClock) {
  Serve();
  const auto watch = Watch("&timeoutSeconds=30");
  clock_.AwaitSleepers(1);

  clock_.Advance(30s);

  EXPECT_EQ(watch->Read(testing::kHangTimeout).state, Stream::State::kEnd);
}

TEST_P(ApiHttpServerWatchTest, BookmarksAreSentByTheServerClock) {
  Serve();
  const auto watch = Watch("&allowWatchBookmarks=true&timeoutSeconds=300");
  clock_.AwaitSleepers(1);

  clock_.Advance(60s);

  EXPECT_THAT(ReadLines(*watch, 1), StartsWith(R"({"type":"BOOKMARK")"));
}

TEST_P(ApiHttpServerWatchTest, ConcurrentWatchesSeeAllConcurrentWrites) {
  Serve();
  std::vector<std::unique_ptr<Stream>> watches;
  for (int i = 0; i < 20; ++i) watches.push_back(Watch());

  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([this, writer] {
        for (int i = 0; i < 25; ++i) CreateMap("m" + std::to_string(writer * 100 + i));
      });
    }
  }

  for (const auto& watch : watches) {
    const std::string seen = ReadLines(*watch, 100);
    for (int i = 0; i < 100; ++i) {
      const std::string name = "m" + std::to_string(i / 25 * 100 + i % 25);
      EXPECT_NE(seen.find("\"name\":\"" + name + '"'), std::string::npos) << name;
    }
  }
}

TEST_P(ApiHttpServerWatchTest, WatchBreaksWhenServerIsDestroyed) {
  auto server = std::make_unique<testing::ApiServer>();
  const auto transport = Connect(server->Listen({.tls = GetParam()}));
  const auto watch = transport->Open({.target = std::string(kMaps) + "?watch=true"});

  server.reset();

  ExpectBroken(*watch);
}

TEST_P(ApiHttpServerWatchTest, WatchConnectionIsReleasedWhenClientDisconnects) {
  options_.max_connections = 2;
  Serve();
  for (int i = 0; i < 10; ++i) Watch();

  Watch();
  EXPECT_EQ(transport_->Call({.target = kMaps}).status, 200);
}

TEST_P(ApiHttpServerWatchTest, WatchIsNotClosedForNewClientsAtConnectionLimit) {
  options_.max_connections = 2;
  Serve();
  const auto watch = Watch();

  for (int i = 0; i < 5; ++i) EXPECT_EQ(Connect(config_)->Call({.target = kMaps}).status, 200);

  CreateMap("a");
  EXPECT_THAT(ReadLines(*watch, 1), HasSubstr(R"("name":"a")"));
}

// Slow clients.

/// A watch response that returns 1 MiB on each read and never ends.
class EndlessWatchResponse final : public apiserver::WatchResponse {
 public:
  static constexpr std::size_t kBytesPerRead = 1 << 20;

  explicit EndlessWatchResponse(std::atomic<int>& reads) : reads_(reads) {}
  std::string ReadFrames() override {
    ++reads_;
    std::string frames(kBytesPerRead, 'x');
    return frames;
  }
  [[nodiscard]] bool ended() const override { return false; }
  [[nodiscard]] TimePoint wake_time() const override { return TimePoint::max(); }
  [[nodiscard]] const std::string& storage_resource() const override { return resource_; }

 private:
  std::atomic<int>& reads_;
  const std::string resource_ = "pods";
};

TEST_F(ApiHttpServerTest, WatchThatClientDoesNotReadIsNotBufferedAndTimesOut) {
  std::atomic<int> reads = 0;
  handler_ = [&](const ServerRequest& request) {
    if (request.target.path != "/watch") return ServerResponse{};
    return ServerResponse{.watch = std::make_unique<EndlessWatchResponse>(reads)};
  };
  options_.max_connections = 1;
  options_.write_timeout = 100ms;
  Serve();
  RawClient stalled(port());
  stalled.SendGet("/watch");
  EXPECT_TRUE(stalled.AwaitBytes());

  EXPECT_EQ(Get("/").status, 200) << "after the first connection has timed out";
  EXPECT_LT(reads, 64) << "the server reads more than the socket buffers hold";
}

// Encoding.

TEST(WatchEncodingTest, WatchIsChunkedAndClosesTheConnection) {
  testing::FakeClock clock;
  testing::ApiServer server({.clock = clock});
  RawClient client(PortOf(server.Listen()));

  client.SendGet(std::string(kMaps) + "?watch=true&timeoutSeconds=5");
  clock.AwaitSleepers(1);
  clock.Advance(5s);

  const std::string response = client.ReadToEnd();
  EXPECT_THAT(response, HasSubstr("\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"));
  EXPECT_THAT(response, EndsWith("\r\n\r\n0\r\n\r\n"));
}

TEST(WatchEncodingTest, WatchForHttp10ClientIsNotChunked) {
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
