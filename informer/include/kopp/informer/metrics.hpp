#pragma once

#include <functional>
#include <memory>

#include <kopp/informer/informer_status.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp::informer {

/// Exports the state of informers. It is an adapter to a metrics library, like
/// workqueue::MetricsProvider. Implementations must be thread-safe and must outlive the informers
/// that use them. client-go: InformerMetricsProvider.
class InformerMetrics {
 public:
  virtual ~InformerMetrics() = default;
  InformerMetrics(const InformerMetrics&) = delete;
  InformerMetrics& operator=(const InformerMetrics&) = delete;

  /// Called by the constructor of an informer, which rethrows exceptions. The metric calls `read`
  /// for the current state, on any thread, until it is destroyed. Its destructor must block while a
  /// call of `read` is running. May return null.
  virtual std::unique_ptr<workqueue::Metric> NewInformerMetric(
      std::function<InformerStatus()> read) = 0;

 protected:
  InformerMetrics() = default;
};

}  // namespace kopp::informer
