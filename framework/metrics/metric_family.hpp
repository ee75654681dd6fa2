#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>

#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// Sets the labels of one series.
inline void SetLabels(prometheus::ClientMetric& metric, const prometheus::Labels& labels) {
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
}

/// Returns no family if it has no series, so that Metrics::Text omits it.
inline std::vector<prometheus::MetricFamily> NoneIfEmpty(prometheus::MetricFamily family) {
  if (family.metric.empty()) return {};
  return {std::move(family)};
}

/// The counters, gauges or histograms of one name. A series lives as long as the family, unless it
/// is removed. Thread-safe.
///
/// prometheus::Family is not used because it neither sorts the series nor shares their ownership.
template <typename T>
class PermanentFamily final : public prometheus::Collectable {
 public:
  PermanentFamily(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  /// Returns the series with these labels; creates it from `args` if there is none. The labels must
  /// be UTF-8.
  template <typename... Args>
  std::shared_ptr<T> GetOrCreate(const prometheus::Labels& labels, const Args&... args) {
    auto series = series_.Lock();
    std::shared_ptr<T>& entry = (*series)[labels];
    if (!entry) entry = std::make_shared<T>(args...);
    return entry;
  }

  /// Removes the series with these labels. Returns whether there was one.
  bool Remove(const prometheus::Labels& labels) { return series_.Lock()->erase(labels) > 0; }

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const auto all_series = *series_.Lock();
    prometheus::MetricFamily family{name_, help_, T::metric_type, {}};
    for (const auto& [labels, series] : all_series) {
      SetLabels(family.metric.emplace_back(series->Collect()), labels);
    }
    return NoneIfEmpty(std::move(family));
  }

 private:
  const std::string name_;
  const std::string help_;
  mutable detail::Guarded<std::map<prometheus::Labels, std::shared_ptr<T>>> series_;
};

/// A function that computes a metric when it is collected. Thread-safe.
template <typename T>
class MetricCallback {
 public:
  explicit MetricCallback(std::function<T()> read) : read_(std::move(read)) {}

  /// Returns nullopt after Disable, and if the function throws.
  std::optional<T> Read() {
    const std::lock_guard guard{mutex_};
    if (!read_) return std::nullopt;
    try {
      return read_();
    } catch (...) {
      return std::nullopt;
    }
  }

  /// Blocks while the function runs; it is not called afterwards.
  void Disable() {
    const std::lock_guard guard{mutex_};
    read_ = nullptr;
  }

 private:
  // Held while the function runs, so the function must not wait for a thread that calls Disable.
  std::mutex mutex_;
  std::function<T()> read_;
};

/// Disables a callback when it is destroyed.
template <typename T>
class CallbackMetric final : public workqueue::Metric {
 public:
  explicit CallbackMetric(std::shared_ptr<MetricCallback<T>> callback)
      : callback_(std::move(callback)) {}
  ~CallbackMetric() override { callback_->Disable(); }

 private:
  std::shared_ptr<MetricCallback<T>> callback_;
};

}  // namespace kopp
