#pragma once

#include "metric_family.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <kopp/metrics/custom_metrics.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The metrics that an operator adds to those of kopp. Thread-safe.
class CustomMetrics final : public prometheus::Collectable {
 public:
  // These functions throw std::invalid_argument as Metrics::NewCounter documents.
  CounterVec NewCounter(const MetricOptions& options);
  GaugeVec NewGauge(const MetricOptions& options);
  /// `buckets` are the upper bounds. Empty: the default buckets of Prometheus's client libraries.
  HistogramVec NewHistogram(const MetricOptions& options, std::vector<double> buckets);

  /// Returns the families sorted by name, without those that have no series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct State {
    std::map<std::string, std::shared_ptr<prometheus::Collectable>> families;
    std::set<std::string> sample_names;  // of all families: a histogram has several
  };

  template <typename T>
  std::shared_ptr<PermanentFamily<T>> NewFamily(const MetricOptions& options);

  mutable detail::Guarded<State> state_;
};

}  // namespace kopp
