// What befalls an answer on the way to who asked, where there is no socket.
#include "faulty_server.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using Kind = TransportError::Kind;
using State = Stream::State;

class MemoryTransportTest : public FaultyServer {
 protected:
  /// What becomes of a call in another thread: nullopt for an answer.
  std::future<std::optional<Kind>> AskAside(std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, stop = std::move(stop)]() -> std::optional<Kind> {
      try {
        transport_.Call({.target = kMaps}, stop);
        return std::nullopt;
      } catch (const TransportError& error) {
        return error.kind();
      }
    });
  }
};

TEST_F(MemoryTransportTest, ADelayedAnswerComesWhenItsTimeHasCome) {
  server_.Inject({.what = What::kLatency, .times = 1, .delay = 2s});
  auto failure = AskAside();
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);  // it waits on

  clock_.Advance(1s);

  EXPECT_EQ(failure.get(), std::nullopt);
}

TEST_F(MemoryTransportTest, WhoIsToldToStopDoesNotWaitForADelayedAnswer) {
  server_.Inject({.what = What::kLatency, .times = 1, .delay = 2s});
  std::stop_source stop;
  auto failure = AskAside(stop.get_token());
  clock_.AwaitSleepers(1);

  stop.request_stop();

  EXPECT_EQ(failure.get(), Kind::kCancelled);
}

TEST_F(MemoryTransportTest, AnAnswerThatTakesTooLongIsGivenUp) {
  server_.Inject({.what = What::kLatency, .times = 1, .delay = 1h});
  auto failure = AskAside();
  clock_.AwaitSleepers(1);

  clock_.Advance(30s);

  EXPECT_EQ(failure.get(), Kind::kTimeout);
}

TEST_F(MemoryTransportTest, WhatIsAskedAfterAStopIsNotDone) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_EQ(AskAside(stop.get_token()).get(), Kind::kCancelled);
  EXPECT_TRUE(server_.Requests().empty());
}

TEST_F(MemoryTransportTest, ABodyOfMoreThan3MibIsRefusedAsOnAConnection) {
  constexpr std::size_t kMost = std::size_t{3} << 20;

  const Response refusal = Ask("/nowhere", "POST", std::string(kMost + 1, 'b'));

  EXPECT_EQ(refusal.status, 413);
  EXPECT_EQ(json::parse(refusal.body)["message"], "Request entity too large: limit is 3145728");
  EXPECT_TRUE(server_.Requests().empty());
  EXPECT_EQ(Ask("/nowhere", "POST", std::string(kMost, 'b')).status, 404);
}

TEST_F(MemoryTransportTest, AStreamOfATruncatedBodyBreaksWhereItIsCut) {
  server_.Inject({.what = What::kTruncatedBody, .times = 1, .bytes = 7});
  const auto list = transport_.Open({.target = kMaps});

  EXPECT_EQ(list->Read({}).bytes, R"({"kind")");
  EXPECT_EQ(BreakOf(*list), Kind::kBroken);
}

TEST_F(MemoryTransportTest, AStreamOfAWholeBodyEndsInOrder) {
  const auto list = transport_.Open({.target = kMaps});

  EXPECT_EQ(list->Read({}).state, State::kBytes);
  EXPECT_EQ(list->Read({}).state, State::kEnd);
}

TEST_F(MemoryTransportTest, ATruncatedRefusalIsNoHead) {
  server_.Inject({.what = What::kTruncatedBody, .times = 1});

  EXPECT_THROW(transport_.Open({.target = std::string(kMaps) + "/none"}), TransportError);
}

TEST_F(MemoryTransportTest, AWatchThatIsToldToStopEnds) {
  std::stop_source stop;
  const auto watch =
      transport_.Open({.target = std::string(kMaps) + "?watch=true"}, stop.get_token());
  watch->Read({});

  stop.request_stop();

  EXPECT_EQ(BreakOf(*watch), Kind::kCancelled);
}

TEST_F(MemoryTransportTest, WhoWaitsForAWatchSeesAChangeAtOnce) {
  const auto watch = WatchFromNow();
  auto state = std::async(std::launch::async, [&] { return watch->Read(1h).state; });
  clock_.AwaitSleepers(1);

  Make("a");

  EXPECT_EQ(state.get(), State::kBytes);
}

TEST_F(MemoryTransportTest, WhoWaitsForAWatchSeesItDroppedAtOnce) {
  const auto watch = WatchFromNow();
  auto broken = std::async(std::launch::async, [&] {
    try {
      watch->Read(1h);
      return false;
    } catch (const TransportError&) {
      return true;
    }
  });
  clock_.AwaitSleepers(1);

  server_.Inject({.what = What::kDropWatch, .times = 1});

  EXPECT_TRUE(broken.get());
}

}  // namespace
}  // namespace kopp
