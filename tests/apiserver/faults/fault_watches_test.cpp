// Tests of faults of watches and of watch events.
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

TEST_F(FaultWatchesTest, GoneSendsAnErrorEventAndEndsTheWatch) {
  server_.Inject({.type = Type::kGone, .times = 1});
  const auto watch = Watch("&resourceVersion=7");

  const json event = json::parse(watch->Read({}).bytes);

  EXPECT_EQ(event["type"], "ERROR");
  EXPECT_EQ(event["object"]["code"], 410);
  EXPECT_EQ(event["object"]["reason"], "Expired");
  EXPECT_THAT(event["object"]["message"].get<std::string>(),
              StartsWith("too old resource version: 7 ("));
  EXPECT_EQ(watch->Read({}).state, State::kEnd);
}

TEST_F(FaultWatchesTest, GoneAppliesToAnOpenWatchWithoutAnEvent) {
  const auto watch = WatchFromNow();
  EXPECT_EQ(watch->Read({}).state, State::kSilent);

  server_.Inject({.type = Type::kGone, .times = 1});

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ERROR "));
}

TEST_F(FaultWatchesTest, AFaultWithOneTimeAppliesToOneOfTwoWatches) {
  const auto first = WatchFromNow();
  const auto second = WatchFromNow();
  server_.Inject({.type = Type::kGone, .times = 1});

  EXPECT_THAT(ReadEvents(*first), ElementsAre("ERROR "));
  EXPECT_EQ(second->Read({}).state, State::kSilent);
}

TEST_F(FaultWatchesTest, SilentWatchSendsNothingAndIgnoresItsTimeout) {
  const auto watch = WatchFromNow("&timeoutSeconds=10&allowWatchBookmarks=true");
  server_.Inject({.type = Type::kSilentWatch, .times = 1});

  Create("a");
  clock_.Advance(1h);

  EXPECT_EQ(watch->Read({}).state, State::kSilent);
}

TEST_F(FaultWatchesTest, SilentWatchStaysSilentAfterClearFaults) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kSilentWatch});
  EXPECT_EQ(watch->Read({}).state, State::kSilent);

  server_.ClearFaults();
  Create("a");

  EXPECT_EQ(watch->Read({}).state, State::kSilent);
  EXPECT_THAT(ReadEvents(*Watch()), ElementsAre("ADDED a"));
}

TEST_F(FaultWatchesTest, DropWatchBreaksTheConnection) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kDropWatch, .times = 1});

  EXPECT_EQ(ReadError(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, TwoDropWatchFaultsApplyToTwoWatches) {
  const auto first = WatchFromNow();
  const auto second = WatchFromNow();
  server_.Inject({.type = Type::kDropWatch, .times = 1});
  server_.Inject({.type = Type::kDropWatch, .times = 1});

  EXPECT_EQ(ReadError(*first), TransportError::Kind::kBroken);
  EXPECT_EQ(ReadError(*second), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, DropWatchBreaksTheConnectionAfterTheGivenBytes) {
  server_.Inject({.type = Type::kDropWatch, .times = 1, .bytes = 30});
  const auto watch = WatchFromNow();
  Create("a");

  EXPECT_EQ(watch->Read({}).bytes, R"({"type":"ADDED","object":{"kin)");
  EXPECT_EQ(ReadError(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, DropWatchCountsBytesAcrossEvents) {
  const auto watch = WatchFromNow();
  Create("a");
  const std::size_t length = watch->Read({}).bytes.size();
  server_.Inject({.type = Type::kDropWatch, .times = 1, .bytes = length + 1});

  Create("b");
  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED b"));
  Create("c");

  EXPECT_EQ(watch->Read({}).bytes, "{");
  EXPECT_EQ(ReadError(*watch), TransportError::Kind::kBroken);
}

TEST_F(FaultWatchesTest, LostEventOmitsOneEvent) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kLostEvent, .times = 1});

  Create("a");
  Create("b");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED b"));
}

TEST_F(FaultWatchesTest, NameMatchesTheObjectOfAnEvent) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kLostEvent, .ns = "default", .name = "b"});

  Create("a");
  Create("b");
  Create("c");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED a", "ADDED c"));
}

TEST_F(FaultWatchesTest, LostEventDoesNotApplyToAnErrorEvent) {
  const json before = GetJson(kMaps)["metadata"]["resourceVersion"];
  Create("a");
  server_.Compact();
  server_.Inject({.type = Type::kLostEvent});

  EXPECT_THAT(ReadEvents(*Watch("&resourceVersion=" + before.get<std::string>())),
              ElementsAre("ERROR "));
}

TEST_F(FaultWatchesTest, DuplicateEventSendsAnEventTwice) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kDuplicateEvent, .times = 1});

  Create("a");
  Create("b");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED a", "ADDED a", "ADDED b"));
}

TEST_F(FaultWatchesTest, NoBookmarksOmitsBookmarksButNoEvents) {
  const auto watch = WatchFromNow("&allowWatchBookmarks=true");
  server_.Inject({.type = Type::kNoBookmarks});

  clock_.Advance(2min);
  EXPECT_EQ(watch->Read({}).state, State::kSilent);
  Create("a");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED a"));
}

TEST_F(FaultWatchesTest, NoBookmarksOmitsTheBookmarkThatEndsTheInitialEvents) {
  Create("a");
  server_.Inject({.type = Type::kNoBookmarks, .times = 1});

  const auto watch =
      Watch("&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED a"));
  clock_.Advance(2min);
  EXPECT_THAT(ReadEvents(*watch), ElementsAre("BOOKMARK "));
}

TEST_F(FaultWatchesTest, MalformedBodyOfAWatchBreaksTheJsonOfOneEvent) {
  const auto watch = WatchFromNow();
  server_.Inject({.type = Type::kMalformedBody, .verb = "watch", .times = 1});

  Create("a");
  EXPECT_FALSE(json::accept(watch->Read({}).bytes));
  Create("b");

  EXPECT_THAT(ReadEvents(*watch), ElementsAre("ADDED b"));
}

TEST_F(FaultWatchesTest, ServerErrorAppliesToAWatchRequest) {
  server_.Inject({.type = Type::kServerError, .verb = "watch", .times = 1, .status = 503});

  EXPECT_EQ(Watch()->head().status, 503);
}

}  // namespace
}  // namespace kopp
