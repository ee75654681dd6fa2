#pragma once

#include <functional>
#include <memory>
#include <string>

#include <kopp/controller/reconcile_event.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// The metrics of the reconciles of one controller. Implementations must be thread-safe and must
/// not throw.
class ReconcileMetrics {
 public:
  virtual ~ReconcileMetrics() = default;
  ReconcileMetrics(const ReconcileMetrics&) = delete;
  ReconcileMetrics& operator=(const ReconcileMetrics&) = delete;

  /// Called when the controller starts and when its number of workers changes.
  virtual void SetWorkers(int workers) = 0;
  /// Adds to the number of workers that process a key: 1 or -1.
  virtual void AddActive(int change) = 0;
  /// Called after each reconcile.
  virtual void Observe(const ReconcileEvent& event) = 0;

 protected:
  ReconcileMetrics() = default;
};

/// The interface through which controllers report metrics: those of their queues and of their
/// reconciles. Thread-safe. kopp::Metrics implements it for Prometheus.
class ControllerMetrics : public workqueue::MetricsProvider {
 public:
  /// Creates the metrics of the reconciles of one controller. They must be destroyed before this
  /// object.
  [[nodiscard]] virtual std::unique_ptr<ReconcileMetrics> NewReconcileMetrics(
      const std::string& controller) = 0;
  /// Creates the gauge of the keys that wait for a delay: a retry or a requeue. It calls `read` for
  /// its value, on any thread, until it is destroyed. Its destructor must block while a call of
  /// `read` is running. May return null: there is no such gauge.
  [[nodiscard]] virtual std::unique_ptr<workqueue::Metric> NewWaitingKeysMetric(
      // NOLINTNEXTLINE(performance-unnecessary-value-param): overriders keep it
      const std::string& /*controller*/, std::function<double()> /*read*/) {
    return nullptr;
  }
  /// The same for the keys whose last reconcile threw.
  [[nodiscard]] virtual std::unique_ptr<workqueue::Metric> NewFailingKeysMetric(
      // NOLINTNEXTLINE(performance-unnecessary-value-param): overriders keep it
      const std::string& /*controller*/, std::function<double()> /*read*/) {
    return nullptr;
  }
};

}  // namespace kopp
