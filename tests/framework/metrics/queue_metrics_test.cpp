// The metrics of workqueues.
#include "metrics/metrics_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(MetricsTest, ANewQueueHasAllMetrics) {
  const auto queue = NewQueue("foo");

  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_adds_total")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_queue_duration_seconds_count")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_work_duration_seconds_count")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_unfinished_work_seconds")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_longest_running_processor_seconds")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_retries_total")), "0");
}

TEST_F(MetricsTest, MetricsHaveTheirPrometheusTypes) {
  const auto queue = NewQueue("foo");

  const std::string text = metrics_.Text();

  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_depth gauge\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_adds_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_queue_duration_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_work_duration_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_unfinished_work_seconds gauge\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_longest_running_processor_seconds gauge\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_retries_total counter\n"));
}

TEST_F(MetricsTest, AFamilyIsWrittenInThePrometheusTextFormat) {
  const auto queue = NewQueue("foo");
  queue->Add("a");

  EXPECT_THAT(metrics_.Text(),
              HasSubstr("# HELP workqueue_adds_total Total number of items added to the queue. "
                        "Adding an item that is already queued is not counted.\n"
                        "# TYPE workqueue_adds_total counter\n"
                        "workqueue_adds_total{controller=\"foo\",name=\"foo\"} 1\n"));
}

TEST_F(MetricsTest, DepthAndAddsCountTheItemsOfTheQueue) {
  const auto queue = NewQueue("foo");

  queue->Add("a");
  queue->Add("b");
  queue->Add("a");
  EXPECT_EQ(Value(OfFoo("workqueue_adds_total")), "2");
  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "2");

  (void)queue->Get();
  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "1");
}

TEST_F(MetricsTest, EachPriorityHasItsOwnDepth) {
  const auto queue = NewQueue("foo", workqueue::Order::Priority());

  queue->Add("a", {.priority = 7});
  queue->Add("b", {.priority = -100});

  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority="7"})"), "1");
  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority="-100"})"), "1");
}

TEST_F(MetricsTest, RetriesCountDelayedAndRateLimitedAdds) {
  const auto queue = NewQueue("foo");

  queue->AddRateLimited("a");
  queue->AddAfter("b", 1h);

  EXPECT_EQ(Value(OfFoo("workqueue_retries_total")), "2");
}

TEST_F(MetricsTest, QueueAndWorkDurationsUseTheClockOfTheQueue) {
  const auto queue = NewQueue("foo");

  queue->Add("a");
  clock_.Advance(2s);
  const auto item = queue->Get();
  clock_.Advance(30ms);
  queue->Done(*item);

  EXPECT_EQ(Value(OfFoo("workqueue_queue_duration_seconds_sum")), "2");
  EXPECT_EQ(Value(OfFoo("workqueue_work_duration_seconds_sum")), "0.03");
  EXPECT_EQ(
      Value(R"(workqueue_work_duration_seconds_bucket{controller="foo",name="foo",le="0.01"})"),
      "0");
  EXPECT_EQ(
      Value(R"(workqueue_work_duration_seconds_bucket{controller="foo",name="foo",le="0.1"})"),
      "1");
}

class BucketTest : public MetricsTest, public ::testing::WithParamInterface<const char*> {};

// The parameters are the bounds as prometheus/client_golang writes them. They are text, because a
// label is text.
TEST_P(BucketTest, EachGoBucketExistsInBothHistograms) {
  const auto queue = NewQueue("foo");
  const std::string labels =
      std::string(R"(_bucket{controller="foo",name="foo",le=")") + GetParam() + "\"}";

  EXPECT_EQ(Value("workqueue_queue_duration_seconds" + labels), "0");
  EXPECT_EQ(Value("workqueue_work_duration_seconds" + labels), "0");
}

INSTANTIATE_TEST_SUITE_P(Bounds, BucketTest,
                         ::testing::Values("1e-08", "1e-07", "1e-06", "9.999999999999999e-06",
                                           "9.999999999999999e-05", "0.001", "0.01", "0.1", "1",
                                           "10", "100", "1000", "+Inf"));

TEST_F(MetricsTest, AHistogramHasNoOtherBuckets) {
  const auto queue = NewQueue("foo");
  const std::string text = metrics_.Text();

  int buckets = 0;
  for (auto at = text.find("le=\""); at != std::string::npos; at = text.find("le=\"", at + 1)) {
    ++buckets;
  }

  EXPECT_EQ(buckets, 2 * 13);
}

TEST_F(MetricsTest, UnfinishedWorkIsMeasuredAtTheTimeOfTheScrape) {
  const auto queue = NewQueue("foo");
  queue->Add("a");
  queue->Add("b");

  (void)queue->Get();
  clock_.Advance(3s);
  const auto second = queue->Get();
  clock_.Advance(2s);
  EXPECT_EQ(Value(OfFoo("workqueue_unfinished_work_seconds")), "7");
  EXPECT_EQ(Value(OfFoo("workqueue_longest_running_processor_seconds")), "5");

  clock_.Advance(1s);
  queue->Done(*second);
  EXPECT_EQ(Value(OfFoo("workqueue_unfinished_work_seconds")), "6");
}

TEST_F(MetricsTest, TheSeriesOfAQueueAreRemovedWithIt) {
  auto foo = NewQueue("foo");
  const auto bar = NewQueue("bar", workqueue::Order::Priority());
  bar->Add("a", {.priority = 3});

  foo.reset();

  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("foo")));
  EXPECT_THAT(metrics_.Text(), HasSubstr("bar"));
}

TEST_F(MetricsTest, ANewQueueWithTheNameOfADestroyedOneStartsAtZero) {
  auto queue = NewQueue("foo");
  queue->Add("a");
  queue.reset();

  queue = NewQueue("foo");

  EXPECT_EQ(Value(OfFoo("workqueue_adds_total")), "0");
  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "0");
}

TEST_F(MetricsTest, QueuesWithTheSameNameShareTheirSeries) {
  const auto one = NewQueue("foo");
  const auto other = NewQueue("foo");
  for (const auto& queue : {one.get(), other.get()}) {
    queue->Add("a");
    queue->Add("b");
    (void)queue->Get();
    clock_.Advance(1s);
  }

  EXPECT_EQ(Value(OfFoo("workqueue_adds_total")), "4");
  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "2");
  EXPECT_EQ(Value(OfFoo("workqueue_unfinished_work_seconds")), "3");
  EXPECT_EQ(Value(OfFoo("workqueue_longest_running_processor_seconds")), "2");
}

TEST_F(MetricsTest, ADestroyedQueueNoLongerCountsInSharedGauges) {
  auto one = NewQueue("foo");
  const auto other = NewQueue("foo");
  one->Add("a");
  one->Add("b");
  other->Add("c");
  (void)one->Get();
  clock_.Advance(1s);

  one.reset();

  EXPECT_EQ(Value(R"(workqueue_depth{controller="foo",name="foo",priority=""})"), "1");
  EXPECT_EQ(Value(OfFoo("workqueue_unfinished_work_seconds")), "0");
  EXPECT_EQ(Value(OfFoo("workqueue_adds_total")), "3") << "a counter only ever grows";
}

TEST_F(MetricsTest, SpecialCharactersInAQueueNameAreEscaped) {
  const auto queue = NewQueue("a\"b\\c\nd\u00e4");

  EXPECT_EQ(Value("workqueue_adds_total{controller=\"a\\\"b\\\\c\\nd\u00e4\","
                  "name=\"a\\\"b\\\\c\\nd\u00e4\"}"),
            "0");
}

TEST_F(MetricsTest, BytesOfAQueueNameThatAreNotUtf8AreReplaced) {
  const auto queue = NewQueue("a\xff");

  EXPECT_EQ(Value("workqueue_adds_total{controller=\"a\uFFFD\",name=\"a\uFFFD\"}"), "0");
}

TEST_F(MetricsTest, DepthIsNeverNegative) {
  const auto depth = metrics_.NewDepthMetric("foo", "");
  constexpr const char* kDepth = R"(workqueue_depth{controller="foo",name="foo",priority=""})";

  depth->Dec();  // overtakes the Inc of another thread
  EXPECT_EQ(Value(kDepth), "0");

  depth->Inc();
  depth->Inc();
  EXPECT_EQ(Value(kDepth), "1");
}

TEST_F(MetricsTest, AGaugeCallbackThatThrowsIsSkipped) {
  const auto broken = metrics_.NewUnfinishedWorkSecondsMetric(
      "foo", []() -> double { throw std::runtime_error("cannot read"); });
  const auto working = metrics_.NewUnfinishedWorkSecondsMetric("bar", [] { return 2.5; });

  EXPECT_EQ(Value(R"(workqueue_unfinished_work_seconds{controller="bar",name="bar"})"), "2.5");
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("foo")));
}

TEST_F(MetricsTest, DestroyingAMetricWaitsForItsRunningCallback) {
  std::atomic<bool> destroyed{false};
  std::atomic<bool> reading{false};
  std::atomic<bool> destroyed_during_read{true};
  auto metric = metrics_.NewUnfinishedWorkSecondsMetric("foo", [&] {
    reading = true;
    for (int i = 0; i < 100 && !destroyed; ++i) std::this_thread::yield();
    destroyed_during_read = destroyed.load();
    return 1.0;
  });
  std::jthread scraper([this] { (void)metrics_.Text(); });
  while (!reading) std::this_thread::yield();

  metric.reset();
  destroyed = true;
  scraper.join();

  EXPECT_FALSE(destroyed_during_read);
}

TEST_F(MetricsTest, QueuesCanBeCreatedAndDestroyedWhileAnotherIsScraped) {
  std::mutex mutex;
  std::condition_variable changed;
  bool reading = false;
  bool proceed = false;
  const auto metric = metrics_.NewUnfinishedWorkSecondsMetric("slow", [&] {
    std::unique_lock lock{mutex};
    reading = true;
    changed.notify_all();
    changed.wait(lock, [&] { return proceed; });
    return 1.0;
  });
  std::jthread scraper([this] { (void)metrics_.Text(); });
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return reading; });

  auto queue = NewQueue("foo");
  queue->Add("a");
  EXPECT_EQ(queue->Len(), 1);
  queue.reset();

  proceed = true;
  changed.notify_all();
}

TEST_F(MetricsTest, QueuesCanBeUsedAndDestroyedDuringScrapes) {
  std::vector<std::jthread> owners;
  std::atomic<int> running{3};
  for (int i = 0; i < 3; ++i) {
    owners.emplace_back([this, &running] {
      for (int round = 0; round < 50; ++round) {
        const auto queue = NewQueue("foo", workqueue::Order::Priority());
        for (int item = 0; item < 20; ++item)
          queue->Add(std::to_string(item), {.priority = item % 3});
        std::jthread worker([&queue] {
          while (const auto item = queue->Get()) queue->Done(*item);
        });
        queue->ShutDownWithDrain();
      }
      --running;
    });
  }
  while (running > 0) (void)metrics_.Text();
  owners.clear();

  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("workqueue_")));
}

}  // namespace
}  // namespace kopp
