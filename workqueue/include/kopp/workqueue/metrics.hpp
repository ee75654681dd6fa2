#pragma once

#include <functional>
#include <memory>
#include <string>

namespace kopp::workqueue {

/// One metric of one queue. Must be thread-safe. A queue calls its metrics without holding a lock,
/// and ignores what they throw. Because there is no lock, two calls about the same item can arrive
/// in reverse order, so a Gauge can be off by one for a short time.
class Metric {
 public:
  virtual ~Metric() = default;
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;

 protected:
  Metric() = default;
};

class Counter : public Metric {
 public:
  virtual void Inc() = 0;
};

class Gauge : public Metric {
 public:
  virtual void Inc() = 0;
  virtual void Dec() = 0;
};

class Histogram : public Metric {
 public:
  virtual void Observe(double seconds) = 0;
};

/// Creates the metrics of queues: an adapter to a metrics library. Must be thread-safe and must
/// outlive the queues that use it. If a New… function throws, the constructor of the queue throws
/// the same exception; if the order has priorities, NewDepthMetric is called later and its
/// exceptions are ignored. A New… function may return null: then that metric is not reported.
///
/// client-go: a thread sets the two gauges about items in processing twice a second. Here their
/// values are computed when they are read.
class MetricsProvider {
 public:
  virtual ~MetricsProvider() = default;
  MetricsProvider(const MetricsProvider&) = delete;
  MetricsProvider& operator=(const MetricsProvider&) = delete;

  /// The number of ready items. `priority` is empty unless the queue's order has priorities; all
  /// priorities beyond the first 25 of a queue share the label "exceeded_cardinality_limit". Two
  /// threads may call this for the same priority at the same time: the second gauge is discarded.
  virtual std::unique_ptr<Gauge> NewDepthMetric(const std::string& name,
                                                const std::string& priority) = 0;
  /// Counts the Adds, except those of items that were already dirty.
  virtual std::unique_ptr<Counter> NewAddsMetric(const std::string& name) = 0;
  /// The time from the Add that made an item dirty to its Get.
  virtual std::unique_ptr<Histogram> NewLatencyMetric(const std::string& name) = 0;
  /// The time from Get to Done.
  virtual std::unique_ptr<Histogram> NewWorkDurationMetric(const std::string& name) = 0;
  /// Counts the calls of AddAfter and AddRateLimited.
  virtual std::unique_ptr<Counter> NewRetriesMetric(const std::string& name) = 0;
  /// The sum over all items in processing of the seconds since their Get. The metric reads its
  /// value from `read`, on any thread, until it is destroyed; its destructor must block while a
  /// call of `read` is running.
  virtual std::unique_ptr<Metric> NewUnfinishedWorkSecondsMetric(const std::string& name,
                                                                 std::function<double()> read) = 0;
  /// The seconds since the Get of the item that has been in processing for the longest time. The
  /// metric reads it from `read` in the same way.
  virtual std::unique_ptr<Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) = 0;

 protected:
  MetricsProvider() = default;
};

}  // namespace kopp::workqueue
