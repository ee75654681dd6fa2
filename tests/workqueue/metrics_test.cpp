#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

// A provider that records the calls of its metrics. Not thread-safe.
class RecordedMetrics final : public MetricsProvider {
 public:
  std::unique_ptr<GaugeMetric> NewDepthMetric(const std::string& name,
                                              const std::string& priority) override {
    depths.insert({priority, 0});
    return MakeMetric<RecordedGauge>(name, &depths[priority]);
  }
  std::unique_ptr<CounterMetric> NewAddsMetric(const std::string& name) override {
    return MakeMetric<RecordedCounter>(name, &adds);
  }
  std::unique_ptr<HistogramMetric> NewLatencyMetric(const std::string& name) override {
    return MakeMetric<RecordedHistogram>(name, &latencies);
  }
  std::unique_ptr<HistogramMetric> NewWorkDurationMetric(const std::string& name) override {
    return MakeMetric<RecordedHistogram>(name, &work_durations);
  }
  std::unique_ptr<CounterMetric> NewRetriesMetric(const std::string& name) override {
    return MakeMetric<RecordedCounter>(name, &retries);
  }
  std::unique_ptr<Metric> NewUnfinishedWorkSecondsMetric(const std::string& name,
                                                         std::function<double()> read) override {
    unfinished = std::move(read);
    return MakeMetric<RecordedRead>(name, &unfinished);
  }
  std::unique_ptr<Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) override {
    longest = std::move(read);
    return MakeMetric<RecordedRead>(name, &longest);
  }

  std::set<std::string> names;  // the names of the queues
  std::map<std::string, int> depths;
  int adds = 0;
  int retries = 0;
  std::vector<double> latencies;
  std::vector<double> work_durations;
  std::function<double()> unfinished;  // empty after the queue is destroyed
  std::function<double()> longest;

 private:
  struct RecordedGauge final : GaugeMetric {
    explicit RecordedGauge(int* target) : value(target) {}
    void Inc() override { ++*value; }
    void Dec() override { --*value; }
    int* value;
  };
  struct RecordedCounter final : CounterMetric {
    explicit RecordedCounter(int* target) : value(target) {}
    void Inc() override { ++*value; }
    int* value;
  };
  struct RecordedHistogram final : HistogramMetric {
    explicit RecordedHistogram(std::vector<double>* target) : values(target) {}
    void Observe(double seconds) override { values->push_back(seconds); }
    std::vector<double>* values;
  };
  struct RecordedRead final : Metric {
    explicit RecordedRead(std::function<double()>* target) : read(target) {}
    ~RecordedRead() override { *read = nullptr; }
    RecordedRead(const RecordedRead&) = delete;
    RecordedRead& operator=(const RecordedRead&) = delete;
    std::function<double()>* read;
  };

  template <typename M, typename Target>
  std::unique_ptr<M> MakeMetric(const std::string& name, Target* target) {
    names.insert(name);
    return std::make_unique<M>(target);
  }
};

class MetricsTest : public ::testing::Test {
 protected:
  using Seconds = std::vector<double>;
  kopp::testing::FakeClock clock_;
  RecordedMetrics metrics_;
  Queue<std::string> queue_{{.name = "test", .clock = clock_, .metrics = &metrics_}};
};

TEST_F(MetricsTest, AddingAnItemTwiceBeforeGetCountsOneAdd) {
  queue_.Add("a");
  queue_.Add("a");
  queue_.Add("b");

  EXPECT_EQ(metrics_.adds, 2);
  EXPECT_EQ(metrics_.depths[""], 2);
}

TEST_F(MetricsTest, DepthCountsReadyItemsAndNotItemsInProcessing) {
  queue_.Add("a");
  const auto processing = queue_.Get();
  queue_.Add("a");

  EXPECT_EQ(metrics_.adds, 2) << "the second Add makes it dirty again";
  EXPECT_EQ(metrics_.depths[""], 0) << "an item in processing is counted as ready";
  queue_.Done(*processing);
  EXPECT_EQ(metrics_.depths[""], 1);
}

TEST_F(MetricsTest, LatencyIsTheTimeFromTheFirstAddToGet) {
  queue_.Add("a");
  clock_.Advance(30us);
  queue_.Add("a");
  clock_.Advance(20us);

  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_EQ(metrics_.latencies, Seconds{50e-6});
}

TEST_F(MetricsTest, LatencyOfAnItemAddedWhileProcessingStartsAtThatAdd) {
  queue_.Add("a");
  const auto processing = queue_.Get();
  clock_.Advance(10us);
  queue_.Add("a");
  clock_.Advance(20us);
  queue_.Done(*processing);
  clock_.Advance(30us);

  EXPECT_EQ(queue_.Get(), "a");
  EXPECT_EQ(metrics_.latencies, (Seconds{0, 50e-6}));
}

TEST_F(MetricsTest, WorkDurationIsTheTimeFromGetToDone) {
  queue_.Add("a");
  const auto processing = queue_.Get();
  clock_.Advance(25us);
  queue_.Done(*processing);
  queue_.Done(*processing);

  EXPECT_EQ(metrics_.work_durations, Seconds{25e-6}) << "the second Done was measured";
}

TEST_F(MetricsTest, UnfinishedWorkAndLongestRunningAreComputedWhenRead) {
  EXPECT_EQ(metrics_.unfinished(), 0);
  EXPECT_EQ(metrics_.longest(), 0);
  queue_.Add("a");
  queue_.Add("b");
  const auto first = queue_.Get();
  clock_.Advance(2s);
  const auto second = queue_.Get();
  clock_.Advance(1s);

  EXPECT_EQ(metrics_.unfinished(), 3 + 1);
  EXPECT_EQ(metrics_.longest(), 3);
  queue_.Done(*first);
  EXPECT_EQ(metrics_.unfinished(), 1);
  EXPECT_EQ(metrics_.longest(), 1);
  queue_.Done(*second);
  EXPECT_EQ(metrics_.longest(), 0);
}

TEST_F(MetricsTest, MetricsHaveTheNameOfTheQueue) {
  EXPECT_EQ(metrics_.names, std::set<std::string>{"test"});
}

class MetricsProviderTest : public ::testing::Test {
 protected:
  kopp::testing::FakeClock clock_;
  RecordedMetrics metrics_;
};

TEST_F(MetricsProviderTest, DestroyingTheQueueDestroysItsMetrics) {
  { const Queue<int> queue({.name = "short", .clock = clock_, .metrics = &metrics_}); }

  EXPECT_FALSE(metrics_.unfinished);
  EXPECT_FALSE(metrics_.longest);
}

TEST_F(MetricsProviderTest, AQueueWithoutANameHasNoMetrics) {
  Queue<int> queue({.clock = clock_, .metrics = &metrics_});
  queue.Add(1);

  EXPECT_TRUE(metrics_.names.empty());
}

TEST_F(MetricsProviderTest, EachAddAfterAndAddRateLimitedCountsOneRetry) {
  RateLimitingQueue<int> queue({.name = "retries", .clock = clock_, .metrics = &metrics_});
  queue.AddAfter(1, 1s);
  queue.AddAfter(1, 2s);
  queue.AddAfter(2, 0s);
  queue.AddAfter(3, -1s);
  queue.AddRateLimited(4);
  queue.Add(5);

  EXPECT_EQ(metrics_.retries, 5);
  EXPECT_EQ(metrics_.adds, 3) << "the delayed item was not counted when its delay had passed";
}

TEST_F(MetricsProviderTest, NothingIsCountedAfterShutDown) {
  RateLimitingQueue<int> queue({.name = "retries", .clock = clock_, .metrics = &metrics_});
  queue.ShutDown();
  queue.Add(1);
  queue.AddAfter(1, 1s);
  queue.AddRateLimited(1);

  EXPECT_EQ(metrics_.retries, 0);
  EXPECT_EQ(metrics_.adds, 0);
}

TEST_F(MetricsProviderTest, AddWithOptionsCountsARetryOnlyWithADelay) {
  RateLimitingQueue<int> queue({.name = "retries", .clock = clock_, .metrics = &metrics_});
  queue.AddWithOptions(1, {});
  queue.AddWithOptions(2, {.after = 1s});
  queue.AddWithOptions(3, {.rate_limited = true});

  EXPECT_EQ(metrics_.retries, 2);
}

TEST_F(MetricsProviderTest, DepthHasAPriorityLabelIfTheOrderHasPriorities) {
  Queue<int> queue(
      {.name = "by priority", .clock = clock_, .metrics = &metrics_, .order = Order::Priority()});
  queue.Add(1, {.priority = -100});
  queue.Add(2, {.priority = -100});
  queue.Add(3);
  queue.Add(2, {.priority = 0});
  using Depths = std::map<std::string, int>;
  EXPECT_EQ(metrics_.depths, (Depths{{"-100", 1}, {"0", 2}}));
  EXPECT_EQ(metrics_.adds, 3) << "raising the priority of a dirty item was counted";

  const auto processing = queue.Get();
  EXPECT_EQ(metrics_.depths, (Depths{{"-100", 1}, {"0", 1}}));
  queue.Add(*processing, {.priority = 7});
  EXPECT_EQ(metrics_.depths, (Depths{{"-100", 1}, {"0", 1}}));
  queue.Done(*processing);
  EXPECT_EQ(metrics_.depths, (Depths{{"-100", 1}, {"0", 1}, {"7", 1}}));
}

TEST_F(MetricsProviderTest, PrioritiesBeyondTheFirst25ShareOneDepth) {
  Queue<int> queue(
      {.name = "by priority", .clock = clock_, .metrics = &metrics_, .order = Order::Priority()});
  for (int i = 0; i < 40; ++i) queue.Add(i, {.priority = 1000 - i});

  EXPECT_EQ(metrics_.depths.size(), 26);
  EXPECT_EQ(metrics_.depths["976"], 1) << "the 25th";
  EXPECT_EQ(metrics_.depths["exceeded_cardinality_limit"], 15);
  for (int i = 0; i < 40; ++i) static_cast<void>(queue.Get());
  for (const auto& [priority, depth] : metrics_.depths) EXPECT_EQ(depth, 0) << priority;
}

TEST_F(MetricsProviderTest, LatencyOfADelayedItemStartsWhenItsDelayHasPassed) {
  DelayingQueue<int> queue({.name = "delayed", .clock = clock_, .metrics = &metrics_});
  queue.AddAfter(1, 5s);
  clock_.AwaitSleepers(1);
  clock_.Advance(5s);
  clock_.AwaitSleepers(1);
  clock_.Advance(1s);

  EXPECT_EQ(queue.Get(), 1);
  EXPECT_EQ(metrics_.latencies, std::vector<double>{1});
}

}  // namespace
}  // namespace kopp::workqueue
