#pragma once

#include "metric_family.hpp"

#include <memory>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <kopp/metrics/webhook_metrics.hpp>

namespace kopp {

/// The metrics `controller_runtime_webhook_…` of controller-runtime. Thread-safe.
class WebhookCollector final : public prometheus::Collectable {
 public:
  /// Returns the series of the webhook at `path`, which must be UTF-8.
  WebhookMetrics Add(const std::string& path, const std::vector<double>& latency_bounds);

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  template <typename T>
  using Family = std::shared_ptr<PermanentFamily<T>>;

  Family<prometheus::Histogram> latency_ = std::make_shared<PermanentFamily<prometheus::Histogram>>(
      "controller_runtime_webhook_latency_seconds",
      "Seconds that the program takes to answer a request of a webhook.");
  Family<prometheus::Counter> requests_ = std::make_shared<PermanentFamily<prometheus::Counter>>(
      "controller_runtime_webhook_requests_total",
      "Total number of requests of a webhook by HTTP status code.");
  Family<prometheus::Gauge> in_flight_ = std::make_shared<PermanentFamily<prometheus::Gauge>>(
      "controller_runtime_webhook_requests_in_flight",
      "Number of requests of a webhook that are being served.");
  Family<prometheus::Counter> panics_ = std::make_shared<PermanentFamily<prometheus::Counter>>(
      "controller_runtime_webhook_panics_total",
      "Total number of exceptions of webhooks that do not deny a request.");
  Family<prometheus::Counter> conversion_panics_ =
      std::make_shared<PermanentFamily<prometheus::Counter>>(
          "controller_runtime_conversion_webhook_panics_total",
          "Total number of exceptions of functions that convert objects between versions.");
};

}  // namespace kopp
