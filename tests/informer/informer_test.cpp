#include "widget.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/informer.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::AWidget;
using kopp::testing::SourceRequest;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verb = SourceRequest::Verb;

/// What handlers were told, as text; a test waits for the n-th line.
class Journal {
 public:
  void Write(std::string line) {
    lines_.Lock()->push_back(std::move(line));
    written_.notify_all();
  }
  std::vector<std::string> Await(std::size_t count) {
    auto lines = lines_.Lock();
    lines.Wait(written_, [&] { return lines->size() >= count; });
    return *lines;
  }

 private:
  Guarded<std::vector<std::string>> lines_;
  std::condition_variable written_;
};

class InformerTest : public ::testing::Test {
 protected:
  EventHandler<Widget> Record() {
    using Ptr = std::shared_ptr<const Widget>;
    const auto text = [](const Widget& widget) {
      return widget.metadata.name + "=" + std::to_string(widget.spec.size);
    };
    return {
        .on_add =
            [this, text](const Ptr& object, bool initial) {
              journal_.Write(std::string(initial ? "initial " : "add ") + text(*object));
            },
        .on_update =
            [this, text](const Ptr& before, const Ptr& after) {
              journal_.Write("update " + text(*before) + " to " + text(*after));
            },
        .on_delete =
            [this, text](const Ptr& object, bool unknown) {
              journal_.Write(std::string(unknown ? "lost " : "delete ") + text(*object));
            },
    };
  }
  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
    informer_.WaitForSync(runner_.get_stop_token());
  }
  /// Until the informer waits for what its watch, the request with this index, brings.
  void AwaitWatch(std::size_t request) {
    source_.AwaitRequests(request + 1);
    source_.AwaitWatching();
  }
  /// Lets time pass in steps until `count` requests have come in all.
  void PassUntilRequests(std::size_t count, Duration step) {
    clock_.AwaitSleepers(1);
    while (source_.Requests().size() < count) {
      clock_.Advance(step);
      clock_.AwaitSleepers(1);
    }
  }
  std::vector<std::string> Problems() { return *problems_.Lock(); }

  kopp::testing::FakeClock clock_;
  kopp::testing::FakeSource<Widget> source_{clock_};
  Journal journal_;
  Guarded<std::vector<std::string>> problems_;
  Informer<Widget> informer_{
      source_, {.clock = clock_, .seed = 1, .on_problem = [this](const std::string& problem, bool) {
                  problems_.Lock()->push_back(problem);
                }}};
  std::jthread runner_;  // last: stops first
};

TEST_F(InformerTest, OnceSyncedTheStoreHasTheListAndHandlersWereToldOfIt) {
  source_.Set(AWidget("a").Sized(1));
  source_.Set(AWidget("b").Sized(2));
  informer_.AddHandler(Record());
  EXPECT_FALSE(informer_.HasSynced());

  Start();

  EXPECT_TRUE(informer_.HasSynced());
  EXPECT_EQ(informer_.store().Size(), 2);
  EXPECT_EQ(informer_.store().Get({"default", "b"})->spec.size, 2);
  EXPECT_THAT(journal_.Await(2), ElementsAre("initial a=1", "initial b=2"));
}

TEST_F(InformerTest, ChangesGoThroughTheStoreToTheHandlersInOrder) {
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);

  source_.Set(AWidget("a").Sized(1));
  source_.Set(AWidget("a").Sized(2));
  source_.Delete(AWidget("a").Sized(2));

  EXPECT_THAT(journal_.Await(3), ElementsAre("add a=1", "update a=1 to a=2", "delete a=2"));
  EXPECT_EQ(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, AHandlerFindsTheNewStateInTheStore) {
  EventHandler<Widget> handler;
  handler.on_add = [this](const auto& object, bool) {
    journal_.Write(informer_.store().Get(KeyOf(*object)) == object ? "there" : "missing");
  };
  informer_.AddHandler(std::move(handler));
  source_.Set(AWidget("a"));
  Start();

  EXPECT_THAT(journal_.Await(1), ElementsAre("there"));
}

TEST_F(InformerTest, AMissedDeletionIsToldAsATombstoneAfterTheNextList) {
  source_.Set(AWidget("a").Sized(1));
  source_.Set(AWidget("b").Sized(1));
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);
  source_.LoseNextEvent();
  source_.Delete(AWidget("a"));
  source_.BreakWatch(ApiError("WATCH", {.code = 410}));
  PassUntilRequests(3, 100ms);

  EXPECT_THAT(journal_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "lost a=1", "update b=1 to b=1"));
}

TEST_F(InformerTest, AnObjectDeletedAndMadeAnewUnseenIsToldAsDeleteAndAdd) {
  source_.Set(AWidget("a").Sized(1).WithUid("old"));
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);
  source_.LoseNextEvent();
  source_.Delete(AWidget("a"));

  source_.Set(AWidget("a").Sized(2).WithUid("new"));

  EXPECT_THAT(journal_.Await(3), ElementsAre("initial a=1", "lost a=1", "add a=2"));
}

TEST_F(InformerTest, AHandlerThatThrowsIsReportedAndTheOthersGetTheEvent) {
  EventHandler<Widget> thrower;
  thrower.on_add = [](const auto&, bool) { throw std::runtime_error("no thanks"); };
  informer_.AddHandler(std::move(thrower));
  informer_.AddHandler(Record());
  source_.Set(AWidget("a"));
  Start();

  EXPECT_THAT(journal_.Await(1), ElementsAre("initial a=0"));
  EXPECT_THAT(Problems(), ElementsAre("an event handler threw: no thanks"));
}

TEST_F(InformerTest, AtItsResyncAHandlerIsToldOfEveryObjectAgainAndOthersAreNot) {
  source_.Set(AWidget("a").Sized(1));
  informer_.AddHandler(Record(), 30s);
  informer_.AddHandler(
      {.on_update = [this](const auto&, const auto&) { journal_.Write("never"); }});
  Start();
  AwaitWatch(1);

  clock_.AwaitSleepers(1);
  clock_.Advance(30s);
  EXPECT_THAT(journal_.Await(2), ElementsAre("initial a=1", "update a=1 to a=1"));
  clock_.AwaitSleepers(1);
  clock_.Advance(29s);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(journal_.Await(2).size(), 2) << "not before its time";
  clock_.Advance(1s);

  EXPECT_EQ(journal_.Await(3).size(), 3);
  EXPECT_EQ(source_.Requests().size(), 2) << "a resync asks the server for nothing";
}

TEST_F(InformerTest, AWatchThatEndsInOrderIsResumedFromTheLastVersionWithoutAList) {
  Start();
  AwaitWatch(1);
  source_.Set(AWidget("a"));
  source_.EndWatch();

  AwaitWatch(2);

  EXPECT_THAT(source_.Requests(), ElementsAre(SourceRequest{Verb::kList, "0", 0, ""},
                                              SourceRequest{Verb::kWatch, "0", 0, ""},
                                              SourceRequest{Verb::kWatch, "1", 0, ""}));
}

TEST_F(InformerTest, AWatchThatBreaksIsResumedAfterAPauseAndLosesNothing) {
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);
  source_.BreakWatch(std::runtime_error("connection reset"));
  source_.Set(AWidget("a"));

  PassUntilRequests(3, 100ms);

  EXPECT_THAT(journal_.Await(1), ElementsAre("add a=0"));
  EXPECT_THAT(Problems(),
              ElementsAre(::testing::MatchesRegex("connection reset; next try in [01]\\.[0-9] s")));
  EXPECT_EQ(source_.Requests()[2].verb, Verb::kWatch);
}

TEST_F(InformerTest, ASilentWatchIsGivenUpAfter75SecondsOnceABookmarkWasSeen) {
  Start();
  AwaitWatch(1);
  source_.SendBookmark();
  source_.AwaitWatching();

  PassUntilRequests(3, 5s);

  EXPECT_EQ(clock_.Now() - TimePoint{}, 75s);
  ASSERT_THAT(Problems(), ElementsAre(HasSubstr("a watch was silent for 75 s")));
  EXPECT_EQ(source_.Requests()[2].verb, Verb::kWatch);
}

TEST_F(InformerTest, ALongListThatExpiresBetweenItsPagesIsListedWholeAndAppliedOnce) {
  source_.PageSize(1);
  source_.Set(AWidget("a"));
  source_.Set(AWidget("b"));
  const auto gone = ApiError("GET", {.code = 410});
  informer_.AddHandler(Record());
  source_.FailNext(gone);  // the first list
  source_.LetNextPass();   // its first page is fine
  source_.FailNext(gone);  // its second is not
  Start();

  EXPECT_THAT(source_.Requests(), ::testing::Contains(SourceRequest{Verb::kList, "", 0, ""}));
  EXPECT_THAT(journal_.Await(2), ElementsAre("initial a=0", "initial b=0"));
}

TEST_F(InformerTest, AnEventThatCannotBeUsedIsReportedAndTheWatchGoesOn) {
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);
  source_.SendMisfit("default/x: spec.size: expected an integer, found a string");
  source_.Set(AWidget("a"));

  EXPECT_THAT(journal_.Await(1), ElementsAre("add a=0"));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("spec.size")));
}

TEST_F(InformerTest, AnObjectWhoseNewStateCannotBeUsedIsNotTakenForDeletedByTheNextList) {
  source_.Set(AWidget("a").Sized(1));
  source_.Set(AWidget("b").Sized(1));
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);
  source_.ListAsMisfit({"default", "a"});
  source_.BreakWatch(ApiError("WATCH", {.code = 410}));
  PassUntilRequests(4, 100ms);

  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 1);
  EXPECT_THAT(journal_.Await(4),
              ElementsAre("initial a=1", "initial b=1", "update b=1 to b=1", "update a=1 to a=1"));
}

TEST_F(InformerTest, AReplayedDeletionOfANamesakeThatCameBeforeIsIgnored) {
  source_.Set(AWidget("x"));
  source_.Set(AWidget("a").WithUid("new"));
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);

  source_.SendAsItIs(EventType::kDeleted, AWidget("a").WithUid("old").AtVersion("1"));
  source_.Set(AWidget("b"));

  EXPECT_EQ(journal_.Await(3)[2], "add b=0");
  EXPECT_NE(informer_.store().Get({"default", "a"}), nullptr);
}

TEST_F(InformerTest, AnEventOfAnOlderVersionOfTheSameObjectIsIgnored) {
  for (int i = 0; i < 9; ++i) source_.Set(AWidget("a").Sized(i));
  informer_.AddHandler(Record());
  Start();
  AwaitWatch(1);

  source_.SendAsItIs(EventType::kModified, AWidget("a").Sized(3).AtVersion("4"));
  source_.Set(AWidget("b"));

  EXPECT_THAT(journal_.Await(2), ElementsAre("initial a=8", "add b=0"));
  EXPECT_EQ(informer_.store().Get({"default", "a"})->spec.size, 8);
}

TEST_F(InformerTest, StopEndsItWhileItWatches) {
  Start();
  AwaitWatch(1);
  runner_.request_stop();
  runner_.join();

  EXPECT_THROW(informer_.AddHandler(Record()), std::logic_error);
  EXPECT_TRUE(informer_.HasSynced()) << "what it kept stays readable";
}

TEST_F(InformerTest, StopEndsItWhileItPauses) {
  source_.FailNext(std::runtime_error("refused"));
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  clock_.AwaitSleepers(1);

  runner_.request_stop();
  runner_.join();

  EXPECT_FALSE(informer_.HasSynced());
}

TEST_F(InformerTest, StopEndsAWaitForASyncThatNeverComes) {
  source_.FailNext(std::runtime_error("refused"));
  runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
  clock_.AwaitSleepers(1);  // in its pause
  std::stop_source patience;
  std::jthread waiter([&] { patience.request_stop(); });

  EXPECT_FALSE(informer_.WaitForSync(patience.get_token()));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("refused")));
}

}  // namespace
}  // namespace kopp::informer
