#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <kopp/controller/controller_metrics.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The metrics `controller_runtime_…` of all controllers, with the label `controller`. Names, help
/// texts and buckets are those of controller-runtime. Thread-safe.
class ReconcileCollector final : public prometheus::Collectable {
 public:
  /// Returns the metrics of a controller. Those with the same name share their series, which start
  /// at 0 and live as long as their last user. `controller` must be UTF-8.
  std::unique_ptr<ReconcileMetrics> Add(const std::string& controller);

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Series;
  class User;
  using LiveSeries = std::vector<std::pair<std::string, std::shared_ptr<Series>>>;

  static prometheus::MetricFamily TotalOf(const LiveSeries& live);
  template <typename T>
  static prometheus::MetricFamily FamilyOf(const LiveSeries& live, T Series::*member,
                                           const std::string& name, const std::string& help);

  // By the name of the controller. May contain expired entries.
  mutable detail::Guarded<std::map<std::string, std::weak_ptr<Series>>> series_;
};

}  // namespace kopp
