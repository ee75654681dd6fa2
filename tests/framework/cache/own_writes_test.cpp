#include "cache/own_writes.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/informer.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using State = WrittenObject::State;

const ObjectKey web_pod{"ns", "web"};

/// An informer of Pods that a FakeSource feeds, and the own writes that it has not received.
class OwnWritesTest : public ::testing::Test {
 protected:
  OwnWritesTest() {
    source_.SetResourceVersion(4);
    source_.Set(PodWith("web"));  // version 5
  }

  static Pod PodWith(const std::string& name, const std::string& uid = "u1") {
    Pod pod;
    pod.metadata.name = name;
    pod.metadata.ns = "ns";
    pod.metadata.uid = uid;
    return pod;
  }
  void RestartServerUntilRestoreIsNoticed() {
    source_.FailWatch(std::runtime_error("the API server restarts"));
    while (informer_.version().restores() == 0) {
      clock_.AwaitSleepers(1);  // the back-off of the reflector
      clock_.Advance(1s);
    }
  }
  static WrittenObject WebAt(const std::string& version) {
    return {.key = web_pod, .uid = "u1", .resource_version = version};
  }
  static WrittenObject WebIn(State state) { return {.key = web_pod, .uid = "u1", .state = state}; }

  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
    informer_.WaitForSync({});
    source_.AwaitIdleWatch();
  }
  /// Blocks until the informer has applied all changes up to `version`.
  void AwaitVersion(const std::string& version) {
    ASSERT_TRUE(informer_.version().WaitFor(version, TimePoint::max(), {}));
  }
  /// Reads the Pod in another thread, and waits until the read blocks.
  std::future<void> StartBlockedRead() {
    auto read = std::async(std::launch::async, [this] { Await(); });
    clock_.AwaitSleeperFor(5s);
    return read;
  }
  void Await() { writes_.Await(web_pod, 5s, stop_.get_token()); }

  testing::FakeClock clock_;
  std::stop_source stop_;
  testing::FakeSource<Pod> source_{clock_};
  informer::Informer<Pod> informer_{source_, {.clock = clock_}};
  OwnWrites writes_{"Pod", informer_, clock_};
  std::jthread runner_;
};

TEST_F(OwnWritesTest, AReadBlocksUntilTheStoreHasTheWrittenVersion) {
  Start();
  writes_.Record(WebAt("6"), true);
  auto read = StartBlockedRead();

  source_.Set(PodWith("web"));

  read.get();
  EXPECT_EQ(informer_.store().Get(web_pod)->metadata.resourceVersion, "6");
}

TEST_F(OwnWritesTest, AReadThrowsAfterItsTimeoutAndNamesTheObjectAndBothVersions) {
  Start();
  writes_.Record(WebAt("6"), true);
  auto read = StartBlockedRead();

  clock_.Advance(5s);

  try {
    read.get();
    FAIL() << "the read returned a stale object";
  } catch (const StaleCacheError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("Pod ns/web (resource version 6) within 5000 ms"),
                                    HasSubstr("its watch is at resource version 5")));
  }
}

TEST_F(OwnWritesTest, AStopRequestEndsARead) {
  Start();
  writes_.Record(WebAt("6"), true);
  auto read = StartBlockedRead();

  stop_.request_stop();

  EXPECT_THROW(read.get(), StaleCacheError);
}

TEST_F(OwnWritesTest, ReadsOfOtherObjectsAndNamespacesDoNotWait) {
  Start();
  writes_.Record(WebAt("6"), true);
  stop_.request_stop();  // a read that waits throws

  EXPECT_NO_THROW(writes_.Await({"ns", "other"}, 5s, stop_.get_token()));
  EXPECT_NO_THROW(writes_.AwaitAll("other", 5s, stop_.get_token()));
  EXPECT_THROW(writes_.AwaitAll("ns", 5s, stop_.get_token()), StaleCacheError);
  EXPECT_THROW(writes_.AwaitAll("", 5s, stop_.get_token()), StaleCacheError);
}

TEST_F(OwnWritesTest, AWriteThatChangedNothingIsNotAwaited) {
  Start();
  writes_.Record(WebAt("5"), true);
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, AVersionThatIsNotANumberIsNotAwaited) {
  Start();
  writes_.Record(WebAt("v6"), true);
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, AnEventOfAnotherObjectWithANewerVersionEndsTheWait) {
  Start();
  const ObjectKey hidden{"ns", "hidden"};
  writes_.Record({.key = hidden, .uid = "u2", .resource_version = "6"}, true);
  source_.DropNextEvent();
  source_.Set(PodWith("hidden"));  // for example an object that was deleted since
  source_.Set(PodWith("other"));
  AwaitVersion("7");

  EXPECT_NO_THROW(writes_.Await(hidden, 5s, stop_.get_token()));
}

TEST_F(OwnWritesTest, AnObjectThatStaysOldBecauseItsEventCannotBeDecodedIsNotReturned) {
  Start();
  writes_.Record(WebAt("6"), true);
  source_.DropNextEvent();
  source_.Set(PodWith("web"));
  source_.SendSkippedEvent("ns/web does not fit the view");
  source_.SendBookmark();
  AwaitVersion("6");
  stop_.request_stop();  // a read that waits throws

  EXPECT_THROW(Await(), StaleCacheError);
  source_.Set(PodWith("web"));
  AwaitVersion("7");
  EXPECT_NO_THROW(Await());
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, AWriteWhoseEventCouldNotBeDecodedBeforeItsResponseIsNotForgotten) {
  Start();
  source_.DropNextEvent();
  source_.Set(PodWith("web"));
  source_.SendSkippedEvent("ns/web does not fit the view");
  source_.SendBookmark();
  AwaitVersion("6");
  stop_.request_stop();  // a read that waits throws

  writes_.Record(WebAt("6"), true);

  EXPECT_THROW(Await(), StaleCacheError);
}

TEST_F(OwnWritesTest, AReceivedWriteIsForgotten) {
  Start();
  writes_.Record(WebAt("6"), true);
  source_.Set(PodWith("web"));
  AwaitVersion("6");

  Await();

  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, ReceivedWritesAreForgottenWithoutReads) {
  Start();
  for (int i = 6; i < 1000; ++i) {
    const std::string version = std::to_string(i);
    writes_.Record({.key = {"ns", version}, .uid = "u1", .resource_version = version}, true);
    source_.Set(PodWith(version));
    if (i % 50 == 0) AwaitVersion(version);
  }
  EXPECT_LT(writes_.size(), 200U);
}

TEST_F(OwnWritesTest, TheResponseOfAnOlderWriteThatArrivesLaterIsIgnored) {
  Start();
  writes_.Record(WebAt("7"), true);
  writes_.Record(WebAt("6"), true);
  source_.Set(PodWith("web"));
  AwaitVersion("6");
  auto read = StartBlockedRead();

  source_.Set(PodWith("web"));

  EXPECT_NO_THROW(read.get());
}

TEST_F(OwnWritesTest, AnObjectThatTheWatchDoesNotSelectMayBeMissing) {
  Start();
  const ObjectKey hidden{"ns", "hidden"};
  writes_.Record({.key = hidden, .uid = "u2", .resource_version = "6"}, /*selected=*/false);
  EXPECT_NO_THROW(writes_.Await(hidden, 5s, stop_.get_token()));
}

TEST_F(OwnWritesTest, AWriteWithUnknownLabelsIsSelectedIfTheWriteBeforeWas) {
  Start();
  const ObjectKey scaled{"ns", "scaled"};
  writes_.Record({.key = scaled, .uid = "u2", .resource_version = "6"}, /*selected=*/true);
  writes_.Record({.key = scaled, .uid = "u2", .resource_version = "7"}, std::nullopt);
  auto read = std::async(std::launch::async, [&] { writes_.Await(scaled, 5s, stop_.get_token()); });
  clock_.AwaitSleeperFor(5s);

  source_.Set(PodWith("scaled", "u2"));
  source_.Set(PodWith("scaled", "u2"));

  EXPECT_NO_THROW(read.get());
}

TEST_F(OwnWritesTest, AWriteWithUnknownLabelsIsNotAwaitedForAnObjectThatIsNotStored) {
  Start();
  const ObjectKey hidden{"ns", "hidden"};
  writes_.Record({.key = hidden, .uid = "u2", .resource_version = "6"}, std::nullopt);
  EXPECT_NO_THROW(writes_.Await(hidden, 5s, stop_.get_token()));
}

TEST_F(OwnWritesTest, AWriteIsFoundUntilTheStoreHasReachedIt) {
  Start();
  writes_.Record(WebAt("6"), /*selected=*/true);
  EXPECT_EQ(writes_.Find(web_pod), WebAt("6"));

  source_.Set(PodWith("web"));
  AwaitVersion("6");

  EXPECT_EQ(writes_.Find(web_pod), std::nullopt);
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, AWriteOfAnObjectThatWasDeletedSinceIsNotFound) {
  Start();
  writes_.Record(WebAt("6"), /*selected=*/true);
  source_.Set(PodWith("web"));
  source_.Delete(PodWith("web"));
  AwaitVersion("7");

  EXPECT_EQ(writes_.Find(web_pod), std::nullopt);
}

TEST_F(OwnWritesTest, AWriteOfAnObjectThatTheWatchDoesNotSelectIsFoundUntilTheStoreHasReachedIt) {
  Start();
  const ObjectKey hidden{"ns", "hidden"};
  writes_.Record({.key = hidden, .uid = "u2", .resource_version = "6"}, /*selected=*/false);
  EXPECT_TRUE(writes_.Find(hidden));

  source_.Set(PodWith("web"));
  AwaitVersion("6");

  EXPECT_FALSE(writes_.Find(hidden));
}

TEST_F(OwnWritesTest, ADeletionIsFoundUntilTheStoreHasIt) {
  Start();
  writes_.Record(WebIn(State::kGone), true);
  EXPECT_EQ(writes_.Find(web_pod), WebIn(State::kGone));

  source_.Delete(PodWith("web"));
  AwaitVersion("6");

  EXPECT_EQ(writes_.Find(web_pod), std::nullopt);
}

TEST_F(OwnWritesTest, AReadBlocksUntilAnObjectThatIsNoLongerSelectedIsRemoved) {
  Start();
  writes_.Record(WebAt("6"), /*selected=*/false);
  auto read = StartBlockedRead();

  source_.Delete(PodWith("web"));

  read.get();
  EXPECT_FALSE(informer_.store().Get(web_pod));
}

TEST_F(OwnWritesTest, AReadAfterADeletionBlocksUntilTheObjectIsGone) {
  Start();
  writes_.Record(WebIn(State::kGone), true);
  auto read = StartBlockedRead();

  source_.Delete(PodWith("web"));

  read.get();
  EXPECT_FALSE(informer_.store().Get(web_pod));
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(OwnWritesTest, AReadAfterADeletionAcceptsANewObjectWithAnotherUid) {
  Start();
  writes_.Record(WebIn(State::kGone), true);
  auto read = StartBlockedRead();

  source_.Set(PodWith("web", "u2"));

  EXPECT_NO_THROW(read.get());
}

TEST_F(OwnWritesTest, AReadAfterADeletionOfACollectionAcceptsADeletionTimestamp) {
  Start();
  writes_.Record(WebIn(State::kDeleting), true);
  auto read = StartBlockedRead();

  Pod pod = PodWith("web");
  pod.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  source_.Set(pod);

  EXPECT_NO_THROW(read.get());
}

TEST_F(OwnWritesTest, ALateCreationOfADeletedObjectIsNotReturned) {
  Start();
  const ObjectKey key{"ns", "short-lived"};
  writes_.Record({.key = key, .uid = "u3", .state = State::kGone}, true);
  EXPECT_NO_THROW(writes_.Await(key, 5s, stop_.get_token()));

  source_.Set(PodWith("short-lived", "u3"));
  AwaitVersion("6");
  stop_.request_stop();  // a read that waits throws

  EXPECT_THROW(writes_.Await(key, 5s, stop_.get_token()), StaleCacheError);
}

TEST_F(OwnWritesTest, WritesOfBeforeARestoreOfEtcdAreVoid) {
  Start();
  writes_.Record(WebAt("6"), true);
  source_.SetResourceVersion(2);
  RestartServerUntilRestoreIsNoticed();

  EXPECT_NO_THROW(Await());
}

// The list has version 20, but the restored Pod is older than the write.
TEST_F(OwnWritesTest, WritesOfBeforeARestoreAreVoidAlthoughTheNewestVersionIsHigher) {
  Start();
  writes_.Record(WebAt("6"), true);
  source_.DropNextEvent();
  source_.SetResourceVersion(3);
  source_.Set(PodWith("web"));  // version 4
  source_.SetResourceVersion(20);
  RestartServerUntilRestoreIsNoticed();

  EXPECT_NO_THROW(Await());
}

}  // namespace
}  // namespace kopp
