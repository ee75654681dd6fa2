#pragma once

#include <functional>
#include <memory>
#include <string>

namespace kopp::workqueue {

/// One metric of one queue. Implementations must be thread-safe. A queue calls its metrics without
/// holding a lock, and ignores exceptions that they throw. Because there is no lock, two calls
/// about the same item can arrive in reverse order, so a Gauge can be inexact for a short time.
class Metric {
 public:
  virtual ~Metric() = default;
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;

 protected:
  Metric() = default;
};

/// A number that only grows.
class CounterMetric : public Metric {
 public:
  virtual void Inc() = 0;
};

/// A number that grows and falls by one.
class GaugeMetric : public Metric {
 public:
  virtual void Inc() = 0;
  virtual void Dec() = 0;
};

/// A distribution of durations in seconds.
class HistogramMetric : public Metric {
 public:
  virtual void Observe(double seconds) = 0;
};

/// Creates the metrics of queues. It is an adapter to a metrics library. Implementations must be
/// thread-safe and must outlive the queues that use them. `name` is QueueOptions::name.
///
/// If a factory function throws, the constructor of the queue throws the same exception. If the
/// order has priorities, NewDepthMetric is called when a priority is first used, and its exceptions
/// are ignored. A factory function can return null; the queue then skips this metric.
///
/// In client-go, a thread updates unfinished_work_seconds and longest_running_processor_seconds
/// twice a second. In kopp, these values are computed when they are read.
class MetricsProvider {
 public:
  virtual ~MetricsProvider() = default;
  MetricsProvider(const MetricsProvider&) = delete;
  MetricsProvider& operator=(const MetricsProvider&) = delete;

  /// Creates the gauge of the number of ready items. `priority` is empty unless the queue's order
  /// has priorities; all priorities beyond the first 25 of a queue share the label
  /// "exceeded_cardinality_limit". The queue can call this for the same priority on two threads at
  /// the same time; it then discards the second gauge.
  virtual std::unique_ptr<GaugeMetric> NewDepthMetric(const std::string& name,
                                                      const std::string& priority) = 0;
  /// Creates the counter of Adds. An Add of an item that was already added since its last Get is
  /// not counted.
  virtual std::unique_ptr<CounterMetric> NewAddsMetric(const std::string& name) = 0;
  /// Creates the histogram of the seconds from the first Add of an item since its last Get to its
  /// next Get.
  virtual std::unique_ptr<HistogramMetric> NewLatencyMetric(const std::string& name) = 0;
  /// Creates the histogram of the seconds from Get to Done.
  virtual std::unique_ptr<HistogramMetric> NewWorkDurationMetric(const std::string& name) = 0;
  /// Creates the counter of calls of AddAfter and AddRateLimited, including the calls that
  /// AddWithOptions makes for a delay.
  virtual std::unique_ptr<CounterMetric> NewRetriesMetric(const std::string& name) = 0;
  /// Creates the metric of the sum over all items in processing of the seconds since their Get. The
  /// metric calls `read` for its value, on any thread, until it is destroyed. Its destructor must
  /// block while a call of `read` is running.
  virtual std::unique_ptr<Metric> NewUnfinishedWorkSecondsMetric(const std::string& name,
                                                                 std::function<double()> read) = 0;
  /// Creates the metric of the seconds since the Get of the item that has been in processing for
  /// the longest time. The requirements for `read` are the same as for
  /// NewUnfinishedWorkSecondsMetric.
  virtual std::unique_ptr<Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) = 0;

 protected:
  MetricsProvider() = default;
};

}  // namespace kopp::workqueue
