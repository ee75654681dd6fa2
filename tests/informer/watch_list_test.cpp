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

#include <kopp/informer/detail/reflector.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::SourceRequest;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Verb = SourceRequest::Verb;

/// Records the calls of a reflector, with one line of text for each call. Thread-safe.
class RecordingSink final : public AnyReflector::Sink {
 public:
  void Replace(std::vector<AnyObject> objects,
               const std::vector<ObjectKey>& skipped_keys) override {
    std::string line = "replace";
    for (const AnyObject& object : objects) {
      line += " " + object.key().name + "=" + std::to_string(object.As<Widget>()->spec.size);
    }
    for (const ObjectKey& key : skipped_keys) line += " skipped " + key.ToString();
    Append(std::move(line));
  }
  void ApplyEvent(const WatchItem& event) override { Append("event " + event.object.key().name); }
  [[nodiscard]] std::vector<AnyObject> Objects() const override { return {}; }
  TimePoint RunPeriodicWork(TimePoint) override { return TimePoint::max(); }

  /// Blocks until there are `count` lines, and returns all lines.
  std::vector<std::string> Await(std::size_t count) {
    auto lines = lines_.Lock();
    lines.Wait(appended_, [&] { return lines->size() >= count; });
    return *lines;
  }

 private:
  void Append(std::string line) {
    lines_.Lock()->push_back(std::move(line));
    appended_.notify_all();
  }

  kopp::detail::Guarded<std::vector<std::string>> lines_;
  std::condition_variable appended_;
};

/// A reflector that lists with a watch (sendInitialEvents).
class ReflectorWatchListTest : public ::testing::Test {
 protected:
  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { reflector_.Run(stop); });
  }
  /// Advances the clock in steps until the source has received `count` requests in total.
  void AdvanceUntilRequests(std::size_t count, Duration step) {
    clock_.AwaitSleepers(1);
    while (source_.Requests().size() < count) {
      clock_.Advance(step);
      clock_.AwaitSleepers(1);
    }
  }
  std::vector<std::string> Problems() { return *problems_.Lock(); }

  kopp::testing::FakeClock clock_;
  kopp::testing::FakeSource<Widget> source_{clock_};
  RecordingSink sink_;
  kopp::detail::Guarded<std::vector<std::string>> problems_;
  Reflector<Widget> reflector_{source_,
                               sink_,
                               {.clock = clock_,
                                .seed = 1,
                                .use_watch_list = true,
                                .on_problem = [this](const std::string& problem, bool) {
                                  problems_.Lock()->push_back(problem);
                                }}};
  std::jthread runner_;  // declared last, so that it is stopped and destroyed first
};

TEST_F(ReflectorWatchListTest, AllObjectsAreReplacedAtOnceAndTheSameWatchGoesOn) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(2));
  Start();
  EXPECT_THAT(sink_.Await(1), ElementsAre("replace a=1 b=2"));

  source_.Set(MakeWidget("c"));

  EXPECT_THAT(sink_.Await(2), ElementsAre("replace a=1 b=2", "event c"));
  EXPECT_THAT(source_.Requests(), ElementsAre(SourceRequest{Verb::kWatch, "", 0, "", true}));
  EXPECT_THAT(Problems(), IsEmpty());
}

TEST_F(ReflectorWatchListTest, ChangesBeforeTheEndOfTheInitialEventsArePartOfTheList) {
  source_.Set(MakeWidget("a").WithSize(1));
  source_.Set(MakeWidget("b").WithSize(1));
  source_.Set(MakeWidget("deleted"));
  source_.DropInitialEventsEnd();
  Start();
  source_.AwaitRequests(1);
  source_.AwaitIdleWatch();
  source_.Set(MakeWidget("a").WithSize(2));
  source_.Set(MakeWidget("c").WithSize(3));
  source_.Delete(MakeWidget("deleted"));

  source_.SendInitialEventsEnd();

  EXPECT_THAT(sink_.Await(1), ElementsAre("replace a=2 b=1 c=3"));
}

TEST_F(ReflectorWatchListTest, AnObjectThatCannotBeDecodedIsReportedAndNotConsideredDeleted) {
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("odd"));
  source_.ListAsSkipped({"default", "odd"});
  Start();

  EXPECT_THAT(sink_.Await(1), ElementsAre("replace a=0 skipped default/odd"));
  EXPECT_THAT(Problems(), ElementsAre("default/odd could not be decoded"));
}

TEST_F(ReflectorWatchListTest, AfterAFailureNothingOfTheIncompleteListRemains) {
  source_.Set(MakeWidget("a"));
  source_.DropInitialEventsEnd();
  Start();
  source_.AwaitRequests(1);
  source_.AwaitIdleWatch();
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));
  source_.Set(MakeWidget("b"));
  source_.FailWatch(std::runtime_error("connection reset"));
  AdvanceUntilRequests(2, 100ms);
  source_.AwaitIdleWatch();

  source_.SendInitialEventsEnd();

  EXPECT_THAT(sink_.Await(1), ElementsAre("replace b=0"));
}

TEST_F(ReflectorWatchListTest, AServerThatNeverSendsTheEndIsListedAfter30Seconds) {
  source_.Set(MakeWidget("a"));
  source_.DropInitialEventsEnd();
  Start();
  source_.AwaitRequests(1);
  source_.AwaitIdleWatch();
  clock_.AwaitSleepers(1);
  clock_.Advance(20s);
  clock_.AwaitSleepers(1);
  // Neither a bookmark nor a change of a known object is progress.
  source_.SendBookmark();
  source_.Set(MakeWidget("a").WithSize(1));
  source_.AwaitIdleWatch();
  clock_.AwaitSleepers(1);
  clock_.Advance(10s);

  EXPECT_THAT(sink_.Await(1), ElementsAre("replace a=1"));
  EXPECT_EQ(source_.Requests()[1], (SourceRequest{Verb::kList, "0", 0, ""}));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("cannot list with a watch; listing without")));
}

TEST_F(ReflectorWatchListTest, AServerThatRejectsSendInitialEventsIsListed) {
  source_.Set(MakeWidget("a"));
  source_.FailNextRequest(ApiError("WATCH", {.code = 400}));
  Start();

  EXPECT_THAT(sink_.Await(1), ElementsAre("replace a=0"));
  EXPECT_EQ(source_.Requests()[1], (SourceRequest{Verb::kList, "0", 0, ""}));
}

TEST_F(ReflectorWatchListTest, ARelistReplacesTheObjectsWithAnotherWatchList) {
  source_.Set(MakeWidget("a"));
  Start();
  sink_.Await(1);
  source_.DropNextEvent();
  source_.Delete(MakeWidget("a"));
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(2, 100ms);

  EXPECT_THAT(sink_.Await(2), ElementsAre("replace a=0", "replace"));
  EXPECT_EQ(source_.Requests()[1], (SourceRequest{Verb::kWatch, "1", 0, "", true}));
}

}  // namespace
}  // namespace kopp::informer
