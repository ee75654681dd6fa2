#pragma once

#include "metric_family.hpp"

#include <functional>
#include <memory>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <kopp/informer/informer_status.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// The metrics `kopp_informer_…` of all informers, with the labels `kind` and `name`. They are
/// computed when they are collected. Counters and sizes of informers with equal labels are added;
/// of ages and versions, the maximum counts. Thread-safe.
class InformerCollector final : public prometheus::Collectable {
 public:
  /// `read` is called until the returned metric is destroyed.
  std::unique_ptr<workqueue::Metric> Add(std::function<informer::InformerStatus()> read);

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  using Callback = MetricCallback<informer::InformerStatus>;

  mutable detail::Guarded<std::vector<std::weak_ptr<Callback>>>
      callbacks_;  // may contain expired entries
};

}  // namespace kopp
