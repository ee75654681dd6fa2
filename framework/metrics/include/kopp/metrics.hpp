#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/controller/controller_metrics.hpp>
#include <kopp/events.hpp>
#include <kopp/informer/metrics.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/metrics/custom_metrics.hpp>
#include <kopp/metrics/webhook_metrics.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

struct RequestEvent;

/// Collects the metrics of a program for Prometheus: those of its controllers and workqueues, of
/// its requests to the API server, of its informers, leader election and process, and your own.
/// Names and labels are those of controller-runtime, so that its dashboards and alerts work
/// unchanged; those that only kopp has begin with `kopp_`. Thread-safe. Must outlive
/// the queues, transports and informers that use it.
///
///     kopp::Metrics metrics;
///     kopp::workqueue::Queue<std::string> queue{{.name = "foo", .metrics = &metrics}};
///     std::cout << metrics.Text();  // workqueue_adds_total{controller="foo",name="foo"} 0 …
///
/// Queues with the same name share their series: counters, depth and unfinished work are added; the
/// time of the longest running processor is the maximum. A series is removed with the last queue
/// that uses it. Bytes of a name that are not UTF-8 are replaced by U+FFFD, because Prometheus
/// would reject the whole text.
class Metrics final : public ControllerMetrics,
                      public informer::InformerMetrics,
                      public LeaderElectionMetrics,
                      public EventMetrics {
 public:
  /// The Content-Type of Text().
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  Metrics();
  ~Metrics() override;

  /// Returns the current values of all series in the Prometheus text format. Locks each queue
  /// briefly, one after the other, to read the age of the items that are being processed.
  [[nodiscard]] std::string Text() const;

  /// Counts a request in rest_client_requests_total and, unless it opened a stream, observes its
  /// duration in rest_client_request_duration_seconds. A RequestObserver calls it.
  void ObserveRequest(const RequestEvent& event);

  /// Observes in rest_client_rate_limiter_duration_seconds how long a call waited for the rate
  /// limit; see TransportPolicies::on_rate_limit.
  void ObserveRateLimiter(std::string_view method, std::string_view host, Duration wait);

  /// Counts a read of the files of a server certificate in certwatcher_read_certificate_total and,
  /// if it failed, in certwatcher_read_certificate_errors_total.
  void ObserveCertificateRead(bool succeeded);

  /// Sets kopp_webhook_certificate_expiration_timestamp_seconds, which exists from then on.
  void SetWebhookCertificateExpiry(WallTime expiry);

  /// Returns the metrics of the webhook at `path`. A webhook server updates them.
  [[nodiscard]] WebhookMetrics NewWebhookMetrics(const std::string& path);

  /// Adds a further cluster to kopp_cluster_synced, until the returned metric is destroyed.
  /// `synced` returns whether all caches of the cluster have synced; it must be thread-safe.
  std::unique_ptr<workqueue::Metric> NewClusterSyncedMetric(const std::string& cluster,
                                                            std::function<bool()> synced);

  // Metrics of your own, on the same page. Create each once, for example in main:
  //
  //     const auto created = metrics.NewCounter({.name = "web_operator_deployments_created_total",
  //                                              .help = "Total number of created Deployments.",
  //                                              .labels = {"tier"}});
  //     created.WithLabelValues({"frontend"}).Inc();
  //
  // They throw std::invalid_argument if a name or label is not valid for Prometheus, if the name is
  // in use, or if it has a prefix of kopp's own metrics: certwatcher_, controller_runtime_, kopp_,
  // leader_election_, process_, rest_client_ or workqueue_.
  CounterVec NewCounter(const MetricOptions& options);
  GaugeVec NewGauge(const MetricOptions& options);
  /// `buckets` are the upper bounds in increasing order; empty: .005 to 10, for seconds.
  HistogramVec NewHistogram(const MetricOptions& options, std::vector<double> buckets = {});

  // The ControllerMetrics interface. Controllers and queues call it. Controllers with the same name
  // share their series, and their numbers of workers are added; a series is removed with the last
  // controller that uses it. controller_runtime_reconcile_panics_total counts reconciles that threw
  // an object that is not a std::exception.
  std::unique_ptr<ReconcileMetrics> NewReconcileMetrics(const std::string& controller) override;
  std::unique_ptr<workqueue::Metric> NewWaitingKeysMetric(const std::string& controller,
                                                          std::function<double()> read) override;
  std::unique_ptr<workqueue::Metric> NewFailingKeysMetric(const std::string& controller,
                                                          std::function<double()> read) override;
  std::unique_ptr<workqueue::GaugeMetric> NewDepthMetric(const std::string& name,
                                                         const std::string& priority) override;
  std::unique_ptr<workqueue::CounterMetric> NewAddsMetric(const std::string& name) override;
  std::unique_ptr<workqueue::HistogramMetric> NewLatencyMetric(const std::string& name) override;
  std::unique_ptr<workqueue::HistogramMetric> NewWorkDurationMetric(
      const std::string& name) override;
  std::unique_ptr<workqueue::CounterMetric> NewRetriesMetric(const std::string& name) override;
  std::unique_ptr<workqueue::Metric> NewUnfinishedWorkSecondsMetric(
      const std::string& name, std::function<double()> read) override;
  std::unique_ptr<workqueue::Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) override;

  // The InformerMetrics interface. Informers call it.
  std::unique_ptr<workqueue::Metric> NewInformerMetric(
      std::function<informer::InformerStatus()> read) override;

  // The LeaderElectionMetrics interface. A LeaderElector calls it.
  void SetMasterStatus(const std::string& name, bool is_leader) override;
  void AddSlowPath(const std::string& name) override;

  /// Counts a write loop of `object`; see "Write loops" in docs/operating.md. `fields` and
  /// `writers` are lists for people. The Manager calls it.
  void AddWriteLoop(const std::string& kind, const ObjectKey& object, const std::string& fields,
                    const std::string& writers);

  // The EventMetrics interface. An EventRecorder calls it.
  void AddDroppedEvents(std::string_view reason, std::size_t count) override;

 private:
  struct Families;

  std::unique_ptr<Families> families_;
};

}  // namespace kopp
