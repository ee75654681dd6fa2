#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace kopp {

template <typename T>
class PermanentFamily;

/// The description of a metric of your own; see Metrics::NewCounter.
struct MetricOptions {
  /// Such as "web_operator_deployments_created_total". Begin it with the name of your operator, and
  /// end it with the unit: _seconds, _bytes, or _total for a counter.
  std::string name{};
  std::string help{};                 ///< one sentence
  std::vector<std::string> labels{};  ///< the names of the labels
};

// Metrics of your own. All functions are thread-safe, and the handles are cheap to copy. They may
// outlive the Metrics that created them.

/// A value that only increases.
class Counter {
 public:
  explicit Counter(std::shared_ptr<prometheus::Counter> series) : series_(std::move(series)) {}
  /// Does nothing if `amount` is negative.
  void Inc(double amount = 1) const;

 private:
  std::shared_ptr<prometheus::Counter> series_;
};

/// A value that increases and decreases.
class Gauge {
 public:
  explicit Gauge(std::shared_ptr<prometheus::Gauge> series) : series_(std::move(series)) {}
  void Set(double value) const;
  void Inc(double amount = 1) const;
  void Dec(double amount = 1) const;

 private:
  std::shared_ptr<prometheus::Gauge> series_;
};

/// The distribution of values, such as durations in seconds.
class Histogram {
 public:
  explicit Histogram(std::shared_ptr<prometheus::Histogram> series) : series_(std::move(series)) {}
  void Observe(double value) const;

 private:
  std::shared_ptr<prometheus::Histogram> series_;
};

/// The series of one metric, by the values of its labels. Each combination of values is a series
/// that lives until it is deleted. If names of objects are values, delete the series of an object
/// that is deleted: otherwise they fill the memory of the program and of Prometheus.
template <typename Metric, typename Series>
class MetricVec {
 public:
  using Family = PermanentFamily<Series>;
  MetricVec(std::shared_ptr<Family> family, std::vector<std::string> labels,
            std::vector<double> buckets = {})
      : family_(std::move(family)), labels_(std::move(labels)), buckets_(std::move(buckets)) {}

  /// Returns the series with these values, in the order of MetricOptions::labels; creates it if
  /// there is none. Bytes that are not UTF-8 are replaced by U+FFFD. Throws std::invalid_argument
  /// if the number of values differs from the number of labels.
  [[nodiscard]] Metric WithLabelValues(std::initializer_list<std::string_view> values = {}) const;

  /// Removes the series with these values from the page. Returns whether there was one. A later
  /// WithLabelValues creates it again, from zero; earlier handles remain valid but have no effect
  /// on the page. Throws as WithLabelValues. Go: DeleteLabelValues of prometheus.
  bool DeleteLabelValues(std::initializer_list<std::string_view> values) const;

 private:
  std::shared_ptr<Family> family_;
  std::vector<std::string> labels_;
  std::vector<double> buckets_;  // of a histogram
};

using CounterVec = MetricVec<Counter, prometheus::Counter>;
using GaugeVec = MetricVec<Gauge, prometheus::Gauge>;
using HistogramVec = MetricVec<Histogram, prometheus::Histogram>;

extern template class MetricVec<Counter, prometheus::Counter>;
extern template class MetricVec<Gauge, prometheus::Gauge>;
extern template class MetricVec<Histogram, prometheus::Histogram>;

}  // namespace kopp
