#pragma once

#include "metric_family.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// The counters or histograms of one name. Equal labels share one series, which lives as long as
/// its last user. Thread-safe.
///
/// prometheus::Family is not used because it does not count the users of a series.
template <typename T>
class SharedFamily final : public prometheus::Collectable {
 public:
  SharedFamily(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  /// Returns the series with these labels; creates it from `args` if there is none.
  template <typename... Args>
  std::shared_ptr<T> GetOrCreate(const prometheus::Labels& labels, const Args&... args) {
    auto series = series_.Lock();
    std::erase_if(*series, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<T>& entry = (*series)[labels];
    std::shared_ptr<T> existing = entry.lock();
    if (!existing) entry = existing = std::make_shared<T>(args...);
    return existing;
  }

  // Holds the lock throughout: otherwise a scrape could keep a series alive after its queue, and a
  // new queue would continue its count.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    prometheus::MetricFamily family{name_, help_, T::metric_type, {}};
    auto series = series_.Lock();
    for (const auto& [labels, entry] : *series) {
      const auto metric = entry.lock();
      if (!metric) continue;
      SetLabels(family.metric.emplace_back(metric->Collect()), labels);
    }
    return NoneIfEmpty(std::move(family));
  }

 private:
  const std::string name_;
  const std::string help_;
  // May contain expired entries.
  mutable detail::Guarded<std::map<prometheus::Labels, std::weak_ptr<T>>> series_;
};

/// The gauges of one name. Their values are computed when they are collected: `merge` combines the
/// callbacks with equal labels. Thread-safe.
class GaugeFamily final : public prometheus::Collectable {
 public:
  using Merge = double (*)(double, double);

  GaugeFamily(std::string name, std::string help, Merge merge)
      : name_(std::move(name)), help_(std::move(help)), merge_(merge) {}

  std::unique_ptr<workqueue::Metric> Add(prometheus::Labels labels, std::function<double()> read) {
    auto callback = std::make_shared<MetricCallback<double>>(std::move(read));
    auto callbacks = callbacks_.Lock();
    std::erase_if(*callbacks, [](const auto& entry) { return entry.second.expired(); });
    callbacks->emplace_back(std::move(labels), callback);
    return std::make_unique<CallbackMetric<double>>(std::move(callback));
  }

  // Does not hold the lock of callbacks_ during a callback, so that queues can be created and
  // destroyed meanwhile.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    std::map<prometheus::Labels, double> values;
    const auto callbacks = *callbacks_.Lock();
    for (const auto& [labels, entry] : callbacks) {
      const auto callback = entry.lock();
      const auto value = callback ? callback->Read() : std::nullopt;
      if (!value) continue;
      const auto [merged, is_first] = values.emplace(labels, *value);
      if (!is_first) merged->second = merge_(merged->second, *value);
    }
    prometheus::MetricFamily family{name_, help_, prometheus::MetricType::Gauge, {}};
    for (const auto& [labels, value] : values) {
      SetLabels(family.metric.emplace_back(), labels);
      family.metric.back().gauge.value = value;
    }
    return NoneIfEmpty(std::move(family));
  }

 private:
  using Entry = std::pair<prometheus::Labels, std::weak_ptr<MetricCallback<double>>>;

  const std::string name_;
  const std::string help_;
  const Merge merge_;
  mutable detail::Guarded<std::vector<Entry>> callbacks_;  // may contain expired entries
};

}  // namespace kopp
