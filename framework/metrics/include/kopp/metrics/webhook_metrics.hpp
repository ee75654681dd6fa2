#pragma once

#include <kopp/metrics/custom_metrics.hpp>

namespace kopp {

/// The metrics `controller_runtime_webhook_…` of the webhook at one path.
struct WebhookMetrics {
  Histogram latency_seconds;
  Gauge requests_in_flight;
  CounterVec requests_total;  ///< the labels are webhook, which is the path, and code
  Counter panics_total;       ///< shared by all paths
};

}  // namespace kopp
