#pragma once

#include <functional>
#include <memory>
#include <string>

namespace kopp::workqueue {

/// What one queue says about itself, in one series. Safe to use from any thread. A queue calls its
/// instruments with no lock held, and goes on where one throws; so two calls about one item can
/// come the other way round, and a Gauge be one off for that moment.
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

/// Makes the instruments of queues: the bridge to a metrics library, of which this module knows
/// none. Outlives the queues that use it. Safe to call from any thread. What a New… throws, the
/// queue's constructor throws; but for NewDepthMetric, which is asked as priorities come up. Null
/// is an answer: that metric is left out.
///
/// client-go: the two gauges about work in hand are set by a thread twice a second. Here they are
/// read when somebody looks.
class MetricsProvider {
 public:
  virtual ~MetricsProvider() = default;
  MetricsProvider(const MetricsProvider&) = delete;
  MetricsProvider& operator=(const MetricsProvider&) = delete;

  /// Items ready to be handed out. `priority` is empty unless the queue's order knows priorities;
  /// those beyond the first 25 of a queue come together as "exceeded_cardinality_limit". May be
  /// asked for one priority by two threads at once: the second gauge is not used then.
  virtual std::unique_ptr<Gauge> NewDepthMetric(const std::string& name,
                                                const std::string& priority) = 0;
  /// Items that an Add made wanted; those that were wanted already do not count.
  virtual std::unique_ptr<Counter> NewAddsMetric(const std::string& name) = 0;
  /// From the Add that made an item wanted to its Get.
  virtual std::unique_ptr<Histogram> NewLatencyMetric(const std::string& name) = 0;
  /// From Get to Done.
  virtual std::unique_ptr<Histogram> NewWorkDurationMetric(const std::string& name) = 0;
  /// Calls of AddAfter and AddRateLimited.
  virtual std::unique_ptr<Counter> NewRetriesMetric(const std::string& name) = 0;
  /// The seconds that all items in hand have been there, summed. `read` may be called from any
  /// thread for as long as the metric lives, whose destructor waits for a call that goes on.
  virtual std::unique_ptr<Metric> NewUnfinishedWorkSecondsMetric(const std::string& name,
                                                                 std::function<double()> read) = 0;
  /// The seconds that the item in hand for longest has been there, read in the same way.
  virtual std::unique_ptr<Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) = 0;

 protected:
  MetricsProvider() = default;
};

}  // namespace kopp::workqueue
