// Tests of ApiServer::Restart() through the in-memory transport.
#include "apiserver/faults/faulty_server.hpp"

#include <chrono>
#include <future>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;

class ServerRestartTest : public FaultyServer {
 protected:
  /// Returns the kind of the TransportError that a GET request throws.
  TransportError::Kind CallError(const std::string& target) {
    try {
      Call(target);
    } catch (const TransportError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "Call did not throw";
    return {};
  }
};

TEST_F(ServerRestartTest, RestartKeepsObjects) {
  const json created = Create("a");

  server_.Restart();

  EXPECT_EQ(*Find("a"), created);
}

TEST_F(ServerRestartTest, ServerIsUnreachableDuringDowntime) {
  server_.Restart(10s);
  EXPECT_EQ(CallError(kMaps), TransportError::Kind::kUnreachable);
  EXPECT_THROW(Watch(), TransportError);
  clock_.Advance(9s);
  EXPECT_EQ(CallError(kMaps), TransportError::Kind::kUnreachable);

  clock_.Advance(1s);

  EXPECT_EQ(Call(kMaps).status, 200);
}

TEST_F(ServerRestartTest, RestartBreaksWatch) {
  const auto watch = WatchFromNow();
  EXPECT_EQ(watch->Read({}).state, Stream::State::kSilent);

  server_.Restart();

  EXPECT_EQ(ReadError(*watch), TransportError::Kind::kBroken);
}

TEST_F(ServerRestartTest, RestartBreaksBlockedWatchRead) {
  const auto watch = WatchFromNow();
  auto kind = std::async(std::launch::async, [&] {
    try {
      watch->Read(1h);
    } catch (const TransportError& error) {
      return error.kind();
    }
    return TransportError::Kind::kMalformed;
  });
  clock_.AwaitSleepers(1);

  server_.Restart();

  EXPECT_EQ(kind.get(), TransportError::Kind::kBroken);
}

TEST_F(ServerRestartTest, RestartBreaksUnreadListResponse) {
  const auto list = transport_.Open({.target = kMaps});

  server_.Restart();

  EXPECT_EQ(ReadError(*list), TransportError::Kind::kBroken);
}

TEST_F(ServerRestartTest, RestartBreaksCallWithDelayedResponse) {
  server_.Inject({.type = Type::kLatency, .times = 1, .delay = 5s});
  auto kind = std::async(std::launch::async, [&] { return CallError(kMaps); });
  clock_.AwaitSleepers(1);

  server_.Restart();

  EXPECT_EQ(kind.get(), TransportError::Kind::kBroken);
}

TEST_F(ServerRestartTest, WatchCanContinueFromResourceVersionAfterRestart) {
  const std::string version = Create("a")["metadata"]["resourceVersion"];
  Create("b");

  server_.Restart();

  EXPECT_THAT(ReadEvents(*Watch("&resourceVersion=" + version)), ::testing::ElementsAre("ADDED b"));
}

TEST_F(ServerRestartTest, SecondRestartReplacesDowntimeOfTheFirst) {
  server_.Restart(10s);
  server_.Restart(1s);
  clock_.Advance(1s);

  EXPECT_EQ(Call(kMaps).status, 200);
}

TEST_F(ServerRestartTest, NextRestartEndsInfiniteDowntime) {
  clock_.Advance(1s);  // now + Duration::max() would overflow
  server_.Restart(Duration::max());
  clock_.Advance(24h);
  EXPECT_EQ(CallError(kMaps), TransportError::Kind::kUnreachable);

  server_.Restart();

  EXPECT_EQ(Call(kMaps).status, 200);
}

}  // namespace
}  // namespace kopp
