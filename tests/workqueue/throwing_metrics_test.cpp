#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;

// A provider whose metrics throw at each use, or are null.
class ThrowingMetrics final : public MetricsProvider {
 public:
  bool provider_throws = false;
  bool returns_null = false;

  std::unique_ptr<GaugeMetric> NewDepthMetric(const std::string&, const std::string&) override {
    return MakeMetric<ThrowingGauge>();
  }
  std::unique_ptr<CounterMetric> NewAddsMetric(const std::string&) override {
    return MakeMetric<ThrowingCounter>();
  }
  std::unique_ptr<HistogramMetric> NewLatencyMetric(const std::string&) override {
    return MakeMetric<ThrowingHistogram>();
  }
  std::unique_ptr<HistogramMetric> NewWorkDurationMetric(const std::string&) override {
    return MakeMetric<ThrowingHistogram>();
  }
  std::unique_ptr<CounterMetric> NewRetriesMetric(const std::string&) override {
    return MakeMetric<ThrowingCounter>();
  }
  std::unique_ptr<Metric> NewUnfinishedWorkSecondsMetric(const std::string&,
                                                         std::function<double()>) override {
    return nullptr;
  }
  std::unique_ptr<Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string&, std::function<double()>) override {
    return nullptr;
  }

 private:
  [[noreturn]] static void Throw() { throw std::runtime_error("the disk is full"); }

  struct ThrowingGauge final : GaugeMetric {
    void Inc() override { Throw(); }
    void Dec() override { Throw(); }
  };
  struct ThrowingCounter final : CounterMetric {
    void Inc() override { Throw(); }
  };
  struct ThrowingHistogram final : HistogramMetric {
    void Observe(double) override { Throw(); }
  };

  template <typename M>
  std::unique_ptr<M> MakeMetric() const {
    if (provider_throws) Throw();
    if (returns_null) return nullptr;
    return std::make_unique<M>();
  }
};

TEST(ThrowingMetricsTest, AMetricThatThrowsDoesNotStopTheQueue) {
  kopp::testing::FakeClock clock;
  ThrowingMetrics metrics;
  DelayingQueue<int> queue({.name = "test", .clock = clock, .metrics = &metrics});
  queue.Add(1);
  queue.AddAfter(2, 1s);
  clock.AwaitSleepers(1);
  clock.Advance(1s);
  clock.AwaitSleepers(1);

  for (const int expected : {1, 2}) {
    EXPECT_EQ(queue.Get(), expected);
    queue.Done(expected);
  }
  EXPECT_EQ(queue.Len(), 0);
}

TEST(ThrowingMetricsTest, ANullMetricIsSkipped) {
  ThrowingMetrics metrics;
  metrics.returns_null = true;
  for (const Order& order : {Order(), Order::Priority()}) {
    DelayingQueue<int> queue({.name = "test", .metrics = &metrics, .order = order});
    queue.AddAfter(1, 0s);
    EXPECT_EQ(queue.Get(), 1);
    queue.Done(1);
  }
}

TEST(ThrowingMetricsTest, AProviderThatThrowsMakesTheConstructorThrow) {
  ThrowingMetrics metrics;
  metrics.provider_throws = true;

  EXPECT_THROW(Queue<int>({.name = "test", .metrics = &metrics}), std::runtime_error);
}

TEST(ThrowingMetricsTest, AProviderThatThrowsForANewPriorityDoesNotStopTheQueue) {
  ThrowingMetrics metrics;
  Queue<int> queue({.name = "test", .metrics = &metrics, .order = Order::Priority()});
  metrics.provider_throws = true;
  queue.Add(1, {.priority = 5});

  EXPECT_EQ(queue.Get(), 1);
}

}  // namespace
}  // namespace kopp::workqueue
