// Tests of InMemoryTransport: delays, cancellation, timeouts, body limits and truncated responses.
#include "apiserver/faults/faulty_server.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <stop_token>
#include <string>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using State = Stream::State;

class InMemoryTransportTest : public FaultyServer {
 protected:
  /// Starts a call in another thread. The future holds the kind of the TransportError, or nullopt
  /// if the call returned a response.
  std::future<std::optional<TransportError::Kind>> CallInBackground(std::stop_token stop = {}) {
    return std::async(std::launch::async,
                      [this, stop = std::move(stop)]() -> std::optional<TransportError::Kind> {
                        try {
                          transport_.Call({.target = kMaps}, stop);
                          return std::nullopt;
                        } catch (const TransportError& error) {
                          return error.kind();
                        }
                      });
  }
};

TEST_F(InMemoryTransportTest, DelayedResponseArrivesAfterItsDelay) {
  server_.Inject({.type = Type::kLatency, .times = 1, .delay = 2s});
  auto failure = CallInBackground();
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);
  clock_.AwaitSleepers(1);  // the response is still delayed

  clock_.Advance(1s);

  EXPECT_EQ(failure.get(), std::nullopt);
}

TEST_F(InMemoryTransportTest, StopRequestCancelsCallDuringDelay) {
  server_.Inject({.type = Type::kLatency, .times = 1, .delay = 2s});
  std::stop_source stop;
  auto failure = CallInBackground(stop.get_token());
  clock_.AwaitSleepers(1);

  stop.request_stop();

  EXPECT_EQ(failure.get(), TransportError::Kind::kCancelled);
}

TEST_F(InMemoryTransportTest, CallTimesOutIfResponseIsDelayedTooLong) {
  server_.Inject({.type = Type::kLatency, .times = 1, .delay = 1h});
  auto failure = CallInBackground();
  clock_.AwaitSleepers(1);

  clock_.Advance(30s);

  EXPECT_EQ(failure.get(), TransportError::Kind::kTimeout);
}

TEST_F(InMemoryTransportTest, CallAfterStopRequestIsNotSent) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_EQ(CallInBackground(stop.get_token()).get(), TransportError::Kind::kCancelled);
  EXPECT_TRUE(server_.Requests().empty());
}

TEST_F(InMemoryTransportTest, RequestBodyOver3MibIsRejectedAsOverHttp) {
  constexpr std::size_t kMaxBody = std::size_t{3} << 20;

  const ApiResponse rejection = Call("/nowhere", "POST", std::string(kMaxBody + 1, 'b'));

  EXPECT_EQ(rejection.status, 413);
  EXPECT_EQ(json::parse(rejection.body)["message"], "Request entity too large: limit is 3145728");
  EXPECT_TRUE(server_.Requests().empty());
  EXPECT_EQ(Call("/nowhere", "POST", std::string(kMaxBody, 'b')).status, 404);
}

TEST_F(InMemoryTransportTest, StreamOfTruncatedBodyBreaksAtTheCut) {
  server_.Inject({.type = Type::kTruncatedBody, .times = 1, .bytes = 7});
  const auto list = transport_.Open({.target = kMaps});

  EXPECT_EQ(list->Read({}).bytes, R"({"kind")");
  EXPECT_EQ(ReadError(*list), TransportError::Kind::kBroken);
}

TEST_F(InMemoryTransportTest, StreamOfCompleteBodyEndsWithoutError) {
  const auto list = transport_.Open({.target = kMaps});

  EXPECT_EQ(list->Read({}).state, State::kBytes);
  EXPECT_EQ(list->Read({}).state, State::kEnd);
}

TEST_F(InMemoryTransportTest, OpenThrowsIfErrorResponseIsTruncated) {
  server_.Inject({.type = Type::kTruncatedBody, .times = 1});

  EXPECT_THROW(transport_.Open({.target = std::string(kMaps) + "/none"}), TransportError);
}

TEST_F(InMemoryTransportTest, StopRequestCancelsWatch) {
  std::stop_source stop;
  const auto watch =
      transport_.Open({.target = std::string(kMaps) + "?watch=true"}, stop.get_token());
  watch->Read({});

  stop.request_stop();

  EXPECT_EQ(ReadError(*watch), TransportError::Kind::kCancelled);
}

TEST_F(InMemoryTransportTest, BlockedWatchReadReturnsOnChange) {
  const auto watch = WatchFromNow();
  auto state = std::async(std::launch::async, [&] { return watch->Read(1h).state; });
  clock_.AwaitSleepers(1);

  Create("a");

  EXPECT_EQ(state.get(), State::kBytes);
}

TEST_F(InMemoryTransportTest, BlockedWatchReadThrowsWhenWatchIsDropped) {
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

  server_.Inject({.type = Type::kDropWatch, .times = 1});

  EXPECT_TRUE(broken.get());
}

}  // namespace
}  // namespace kopp
