// Faults of watches and of their events.
#include "faulty_server.hpp"

#include <chrono>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using State = Stream::State;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class FaultWatchesTest : public FaultyServer {};

TEST_F(FaultWatchesTest, AWatchThatIsGoneSaysSoAndEnds) {
  server_.Inject({.what = What::kGone, .times = 1});
  const auto watch = Watch("&resourceVersion=7");

  const json event = json::parse(watch->Read({}).bytes);

  EXPECT_EQ(event["type"], "ERROR");
  EXPECT_EQ(event["object"]["code"], 410);
  EXPECT_EQ(event["object"]["reason"], "Expired");
  EXPECT_THAT(event["object"]["message"].get<std::string>(),
              StartsWith("too old resource version: 7 ("));
  EXPECT_EQ(watch->Read({}).state, State::kEnd);
}

TEST_F(FaultWatchesTest, AnOpenWatchIsGoneAtOnce) {
  const auto watch = WatchFromNow();
  EXPECT_EQ(watch->Read({}).state, State::kSilent);

  server_.Inject({.what = What::kGone, .times = 1});

  EXPECT_THAT(Told(*watch), ElementsAre("ERROR "));
}

TEST_F(FaultWatchesTest, AFaultOfOneWatchLeavesTheOtherAlone) {
  const auto first = WatchFromNow();
  const auto second = WatchFromNow();
  server_.Inject({.what = What::kGone, .times = 1});

  EXPECT_THAT(Told(*first), ElementsAre("ERROR "));
  EXPECT_EQ(second->Read({}).state, State::kSilent);
}

TEST_F(FaultWatchesTest, ASilentWatchSaysNothingAndStaysOpen) {
  const auto watch = WatchFromNow("&timeoutSeconds=10&allowWatchBookmarks=true");
  server_.Inject({.what = What::kSilentWatch, .times = 1});

  Make("a");
  clock_.Advance(1h);

  EXPECT_EQ(watch->Read({}).state, State::kSilent);
}

TEST_F(FaultWatchesTest, ASilentWatchStaysSoThoughTheFaultIsCleared) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kSilentWatch});
  EXPECT_EQ(watch->Read({}).state, State::kSilent);

  server_.ClearFaults();
  Make("a");

  EXPECT_EQ(watch->Read({}).state, State::kSilent);
  EXPECT_THAT(Told(*Watch()), ElementsAre("ADDED a"));
}

TEST_F(FaultWatchesTest, ADroppedWatchBreaks) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kDropWatch, .times = 1});

  EXPECT_EQ(BreakOf(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, TwoDropsAreOfTwoWatches) {
  const auto first = WatchFromNow();
  const auto second = WatchFromNow();
  server_.Inject({.what = What::kDropWatch, .times = 1});
  server_.Inject({.what = What::kDropWatch, .times = 1});

  EXPECT_EQ(BreakOf(*first), TransportError::Kind::kBroken);
  EXPECT_EQ(BreakOf(*second), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, AWatchIsDroppedAfterExactlySoManyBytes) {
  server_.Inject({.what = What::kDropWatch, .times = 1, .bytes = 30});
  const auto watch = WatchFromNow();
  Make("a");

  EXPECT_EQ(watch->Read({}).bytes, R"({"type":"ADDED","object":{"kin)");
  EXPECT_EQ(BreakOf(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, AWatchThatIsToBeDroppedInTheThirdEventTellsTwo) {
  const auto watch = WatchFromNow();
  Make("a");
  const std::size_t length = watch->Read({}).bytes.size();
  server_.Inject({.what = What::kDropWatch, .times = 1, .bytes = length + 1});

  Make("b");
  EXPECT_THAT(Told(*watch), ElementsAre("ADDED b"));
  Make("c");

  EXPECT_EQ(watch->Read({}).bytes, "{");
  EXPECT_EQ(BreakOf(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, ALostEventIsLeftOutAndTheNextIsThere) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kLostEvent, .times = 1});

  Make("a");
  Make("b");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED b"));
}

TEST_F(FaultWatchesTest, AnEventIsFoundByTheNameOfItsObject) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kLostEvent, .ns = "default", .name = "b"});

  Make("a");
  Make("b");
  Make("c");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED a", "ADDED c"));
}

TEST_F(FaultWatchesTest, AnEventInATableIsFoundByNameToo) {
  const auto watch =
      transport_.Open({.target = std::string(kMaps) + "?watch=true&resourceVersion=" +
                                 AskJson(kMaps)["metadata"]["resourceVersion"].get<std::string>(),
                       .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
  server_.Inject({.what = What::kLostEvent, .name = "a"});

  Make("a");

  EXPECT_EQ(watch->Read({}).state, State::kSilent);
}

TEST_F(FaultWatchesTest, TheErrorThatEndsAWatchIsNotLost) {
  const json before = AskJson(kMaps)["metadata"]["resourceVersion"];
  Make("a");
  server_.Compact();
  server_.Inject({.what = What::kLostEvent});

  EXPECT_THAT(Told(*Watch("&resourceVersion=" + before.get<std::string>())), ElementsAre("ERROR "));
}

TEST_F(FaultWatchesTest, ADuplicatedEventComesTwice) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kDuplicateEvent, .times = 1});

  Make("a");
  Make("b");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED a", "ADDED a", "ADDED b"));
}

TEST_F(FaultWatchesTest, AWatchWithoutBookmarksTellsEventsAlone) {
  const auto watch = WatchFromNow("&allowWatchBookmarks=true");
  server_.Inject({.what = What::kNoBookmarks});

  clock_.Advance(2min);
  EXPECT_EQ(watch->Read({}).state, State::kSilent);
  Make("a");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED a"));
}

TEST_F(FaultWatchesTest, AWatchListMayLackTheEndOfItsInitialEvents) {
  Make("a");
  server_.Inject({.what = What::kNoBookmarks, .times = 1});

  const auto watch =
      Watch("&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED a"));
  clock_.Advance(2min);
  EXPECT_THAT(Told(*watch), ElementsAre("BOOKMARK "));
}

TEST_F(FaultWatchesTest, AMalformedEventIsNoJsonAndTheNextIsWell) {
  const auto watch = WatchFromNow();
  server_.Inject({.what = What::kMalformedBody, .verb = "watch", .times = 1});

  Make("a");
  EXPECT_FALSE(json::accept(watch->Read({}).bytes));
  Make("b");

  EXPECT_THAT(Told(*watch), ElementsAre("ADDED b"));
}

TEST_F(FaultWatchesTest, AWatchMayBeRefusedAsAnyRequest) {
  server_.Inject({.what = What::kServerError, .verb = "watch", .times = 1, .status = 503});

  EXPECT_EQ(Watch()->head().status, 503);
}

}  // namespace
}  // namespace kopp
