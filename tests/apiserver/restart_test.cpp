// A server that dies and comes back, without sockets.
#include "faulty_server.hpp"

#include <chrono>
#include <future>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using Kind = TransportError::Kind;

class RestartTest : public FaultyServer {
 protected:
  Kind FailureOf(const std::string& target) {
    try {
      Ask(target);
    } catch (const TransportError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "there was an answer";
    return {};
  }
};

TEST_F(RestartTest, TheObjectsStay) {
  const json made = Make("a");

  server_.Restart();

  EXPECT_EQ(*Find("a"), made);
}

TEST_F(RestartTest, UntilItIsBackItIsUnreachable) {
  server_.Restart(10s);
  EXPECT_EQ(FailureOf(kMaps), Kind::kUnreachable);
  EXPECT_THROW(Watch(), TransportError);
  clock_.Advance(9s);
  EXPECT_EQ(FailureOf(kMaps), Kind::kUnreachable);

  clock_.Advance(1s);

  EXPECT_EQ(Ask(kMaps).status, 200);
}

TEST_F(RestartTest, AWatchIsCut) {
  const auto watch = WatchFromNow();
  EXPECT_EQ(watch->Read({}).state, Stream::State::kSilent);

  server_.Restart();

  EXPECT_EQ(BreakOf(*watch), Kind::kBroken);
}

TEST_F(RestartTest, AWatchIsCutWhileSomebodyWaitsForIt) {
  const auto watch = WatchFromNow();
  auto kind = std::async(std::launch::async, [&] {
    try {
      watch->Read(1h);
    } catch (const TransportError& error) {
      return error.kind();
    }
    return Kind::kMalformed;
  });
  clock_.AwaitSleepers(1);

  server_.Restart();

  EXPECT_EQ(kind.get(), Kind::kBroken);
}

TEST_F(RestartTest, AListThatIsHalfReadIsCut) {
  const auto list = transport_.Open({.target = kMaps});

  server_.Restart();

  EXPECT_EQ(BreakOf(*list), Kind::kBroken);
}

TEST_F(RestartTest, WhoWaitsForAnAnswerGetsNone) {
  server_.Inject({.what = What::kLatency, .times = 1, .delay = 5s});
  auto kind = std::async(std::launch::async, [&] { return FailureOf(kMaps); });
  clock_.AwaitSleepers(1);

  server_.Restart();

  EXPECT_EQ(kind.get(), Kind::kBroken);
}

TEST_F(RestartTest, AWatchGoesOnFromItsVersion) {
  const std::string version = Make("a")["metadata"]["resourceVersion"];
  Make("b");

  server_.Restart();

  EXPECT_THAT(Told(*Watch("&resourceVersion=" + version)), ::testing::ElementsAre("ADDED b"));
}

TEST_F(RestartTest, TwoRestartsAreClosedAsLongAsTheLastSays) {
  server_.Restart(10s);
  server_.Restart(1s);
  clock_.Advance(1s);

  EXPECT_EQ(Ask(kMaps).status, 200);
}

TEST_F(RestartTest, OneThatTakesForeverEndsWithTheNext) {
  clock_.Advance(1s);  // from here on it is more than there is time for
  server_.Restart(Duration::max());
  clock_.Advance(24h);
  EXPECT_EQ(FailureOf(kMaps), Kind::kUnreachable);

  server_.Restart();

  EXPECT_EQ(Ask(kMaps).status, 200);
}

}  // namespace
}  // namespace kopp
