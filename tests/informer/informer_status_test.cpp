#include "informer_fixture.hpp"

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using InformerStatusTest = InformerTest;

TEST_F(InformerStatusTest, ANewInformerHasNoObjectsAndNoVersion) {
  const InformerStatus status = informer_.Status();

  EXPECT_FALSE(status.synced);
  EXPECT_EQ(status.objects, 0);
  EXPECT_EQ(status.resource_version, "");
  EXPECT_EQ(status.resource_version_age, Duration{});
  EXPECT_EQ(status.lists, 0);
}

TEST_F(InformerStatusTest, HasTheNumberOfObjectsTheVersionAndItsAge) {
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("b"));
  source_.AwaitIdleWatch();
  clock_.AwaitSleepers(1);
  clock_.Advance(3s);

  const InformerStatus status = informer_.Status();

  EXPECT_TRUE(status.synced);
  EXPECT_EQ(status.objects, 2);
  EXPECT_EQ(status.resource_version, "2");
  EXPECT_EQ(status.resource_version_age, 3s);
}

TEST_F(InformerStatusTest, CountsEventsByTypeAndSkippedObjects) {
  source_.Set(MakeWidget("broken"));
  source_.ListAsSkipped({"default", "broken"});
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("a"));
  source_.Delete(MakeWidget("a"));
  source_.SendSkippedEvent("not decodable");
  source_.AwaitIdleWatch();

  EXPECT_THAT(informer_.Status().events,
              ElementsAre(Pair("added", 1), Pair("deleted", 1), Pair("modified", 2)));
  EXPECT_EQ(informer_.Status().skipped_objects, 2);
}

TEST_F(InformerStatusTest, ABookmarkRenewsTheVersion) {
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  clock_.AwaitSleepers(1);
  clock_.Advance(30s);
  source_.SetResourceVersion(7);
  source_.SendBookmark();
  source_.AwaitIdleWatch();

  EXPECT_EQ(informer_.Status().resource_version, "7");
  EXPECT_EQ(informer_.Status().resource_version_age, Duration{});
}

TEST_F(InformerStatusTest, CountsListsAndTheEndsOfWatchesByReason) {
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SendBookmark();
  source_.EndWatch();
  AdvanceUntilRequests(3, 100ms);
  AwaitWatchRequest(2);
  source_.FailWatch(std::runtime_error("connection reset"));
  AdvanceUntilRequests(5, 100ms);  // the version is checked, then the watch resumes
  AwaitWatchRequest(4);
  source_.FailWatch(ApiError("WATCH", {.code = 410}));
  AdvanceUntilRequests(7, 100ms);
  AwaitWatchRequest(6);

  const InformerStatus status = informer_.Status();

  EXPECT_EQ(status.lists, 2);
  EXPECT_THAT(status.watch_ends,
              ElementsAre(Pair("closed", 1), Pair("expired", 1), Pair("failed", 1)));
  EXPECT_EQ(status.errors, 2);
}

TEST_F(InformerStatusTest, AnIdleWatchAndAnOutdatedEventAreReasonsToo) {
  source_.Set(MakeWidget("a"));
  source_.Set(MakeWidget("a"));
  StartAndWaitForSync();
  AwaitWatchRequest(1);
  source_.SendEvent(EventType::kModified, MakeWidget("a").WithResourceVersion("1"));
  AdvanceUntilRequests(4, 100ms);
  AwaitWatchRequest(3);
  source_.SendBookmark();
  source_.AwaitIdleWatch();
  AdvanceUntilRequests(6, 5s);

  EXPECT_THAT(informer_.Status().watch_ends, ElementsAre(Pair("idle", 1), Pair("outdated", 1)));
}

TEST(InformerOnErrorTest, TheErrorHandlerGetsTheExceptionOfAListWithTheFailuresAndTheDelay) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source(clock);
  EventLog log;
  Informer<Widget> informer(
      source, {.clock = clock, .name = "widgets", .on_error = [&](const InformerError& error) {
                 try {
                   std::rethrow_exception(error.error);
                 } catch (const ApiError& exception) {
                   log.Append(error.informer + " " + std::to_string(exception.code()) + " " +
                              std::to_string(error.consecutive_failures) + " " +
                              (error.retry_in >= 800ms ? "later" : "at once") + error.handler);
                 }
               }});
  source.FailNextRequest(ApiError("LIST", {.code = 403}));
  source.FailNextRequest(ApiError("LIST", {.code = 500}));
  std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
  while (source.Requests().size() < 3) {
    clock.AwaitSleepers(1);
    clock.Advance(1s);
  }

  EXPECT_THAT(log.Await(2), ElementsAre("widgets 403 1 later", "widgets 500 2 later"));
  EXPECT_TRUE(informer.WaitForSync({}));
  source.AwaitRequests(4);
  EXPECT_EQ(informer.Status().consecutive_failures, 0);
  EXPECT_THAT(informer.Status().last_error, ::testing::HasSubstr("500"));
}

/// Counts the registered informers.
class RecordingMetrics final : public InformerMetrics {
 public:
  std::unique_ptr<workqueue::Metric> NewInformerMetric(
      std::function<InformerStatus()> read) override {
    read_ = std::move(read);
    return std::make_unique<Registered>(*this);
  }
  std::function<InformerStatus()> read_;

 private:
  class Registered final : public workqueue::Metric {
   public:
    explicit Registered(RecordingMetrics& metrics) : metrics_(metrics) {}
    ~Registered() override { metrics_.read_ = nullptr; }

   private:
    RecordingMetrics& metrics_;
  };
};

TEST(InformerMetricsTest, TheMetricReadsTheStatusAndIsDestroyedWithTheInformer) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source(clock);
  RecordingMetrics metrics;
  {
    Informer<Widget> informer(
        source, {.clock = clock, .name = "widgets", .kind = "Widget", .metrics = &metrics});
    informer.AddHandler({}, {.name = "handler"});

    const InformerStatus status = metrics.read_();

    EXPECT_EQ(status.name, "widgets");
    EXPECT_EQ(status.kind, "Widget");
    EXPECT_EQ(status.handlers.at(0).name, "handler");
  }
  EXPECT_FALSE(metrics.read_);
}

}  // namespace
}  // namespace kopp::informer
