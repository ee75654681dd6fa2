#include "custom_metrics.hpp"
#include "informer_collector.hpp"
#include "leader_election_collector.hpp"
#include "log_collector.hpp"
#include "metric_family.hpp"
#include "metrics/metric_text.hpp"
#include "process_collector.hpp"
#include "reconcile_collector.hpp"
#include "rest_client_collector.hpp"
#include "shared_family.hpp"
#include "webhook_collector.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <kopp/metrics.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using prometheus::Labels;
using prometheus::MetricFamily;

double Sum(double a, double b) { return a + b; }
double Max(double a, double b) { return std::max(a, b); }
double Min(double a, double b) { return std::min(a, b); }

class SharedCounter final : public workqueue::CounterMetric {
 public:
  explicit SharedCounter(std::shared_ptr<prometheus::Counter> series)
      : series_(std::move(series)) {}
  void Inc() override { series_->Increment(); }

 private:
  std::shared_ptr<prometheus::Counter> series_;
};

class SharedHistogram final : public workqueue::HistogramMetric {
 public:
  explicit SharedHistogram(std::shared_ptr<prometheus::Histogram> series)
      : series_(std::move(series)) {}
  void Observe(double seconds) override { series_->Observe(seconds); }

 private:
  std::shared_ptr<prometheus::Histogram> series_;
};

/// The depth of one queue. It is merged with equal labels like the other gauges, so that the items
/// of a destroyed queue no longer count.
class DepthGauge final : public workqueue::GaugeMetric {
 public:
  DepthGauge(GaugeFamily& depths, Labels labels)
      : metric_(depths.Add(std::move(labels), [this] {
          return static_cast<double>(std::max<std::int64_t>(ready_, 0));  // Dec may overtake Inc
        })) {}
  void Inc() override { ++ready_; }
  void Dec() override { --ready_; }

 private:
  std::atomic<std::int64_t> ready_ = 0;
  std::unique_ptr<workqueue::Metric> metric_;  // last: its callback reads ready_
};

// Bounds from 10 ns to 1000 s, as prometheus.ExponentialBuckets(10e-9, 10, 12) returns them. The
// rounding errors are the same on purpose: they are visible in the label `le`.
std::vector<double> Buckets() {
  std::vector<double> bounds{10e-9};
  while (bounds.size() < 12) bounds.push_back(bounds.back() * 10);
  return bounds;
}

Labels LabelsOf(const std::string& name) {
  const std::string value = ToUtf8(name);
  return {{"name", value}, {"controller", value}};
}

}  // namespace

struct Metrics::Families {
  GaugeFamily depth{"workqueue_depth", "Number of items in the queue that wait for a worker.", Sum};
  SharedFamily<prometheus::Counter> adds{"workqueue_adds_total",
                                         "Total number of items added to the queue. Adding an item "
                                         "that is already queued is not counted."};
  SharedFamily<prometheus::Histogram> latency{
      "workqueue_queue_duration_seconds",
      "Seconds from adding an item to the queue until a worker gets it."};
  SharedFamily<prometheus::Histogram> work_duration{
      "workqueue_work_duration_seconds", "Seconds that a worker takes to process an item."};
  GaugeFamily unfinished{
      "workqueue_unfinished_work_seconds",
      "Sum of the seconds that the items currently being processed have taken so "
      "far. It increases by 1 per second for each stuck worker.",
      Sum};
  GaugeFamily longest{
      "workqueue_longest_running_processor_seconds",
      "Seconds that the longest running item currently being processed has taken so far.", Max};
  SharedFamily<prometheus::Counter> retries{
      "workqueue_retries_total", "Total number of items added with a delay: retries and requeues."};
  GaugeFamily waiting_keys{"kopp_controller_waiting_keys",
                           "Number of keys that wait for a delay: a retry or a requeue.", Sum};
  GaugeFamily failing_keys{"kopp_controller_failing_keys",
                           "Number of keys whose last reconcile failed.", Sum};
  RestClientCollector rest_client{};
  ReconcileCollector reconciles{};
  InformerCollector informers{};
  GaugeFamily clusters{"kopp_cluster_synced",
                       "1 if all caches of a further cluster have their first lists, else 0.", Min};
  LeaderElectionCollector leader_elections{};
  PermanentFamily<prometheus::Counter> certificate_reads{"certwatcher_read_certificate_total",
                                                         "Total number of certificate reads"};
  PermanentFamily<prometheus::Counter> certificate_errors{
      "certwatcher_read_certificate_errors_total", "Total number of certificate read errors"};
  PermanentFamily<prometheus::Gauge> certificate_expiry{
      "kopp_webhook_certificate_expiration_timestamp_seconds",
      "Time at which the certificate of the webhooks expires, in seconds since 1970."};
  WebhookCollector webhooks{};
  PermanentFamily<prometheus::Counter> dropped_events{
      "kopp_events_dropped_total", "Total number of Events that were not written, by reason."};
  PermanentFamily<prometheus::Counter> write_loops{
      "kopp_write_loops_total",
      "Total number of reports of objects whose fields own writes change back and forth."};
  ProcessCollector process{};
  CustomMetrics custom{};
  LogCollector log{};
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {
  families_->certificate_reads.GetOrCreate({});
  families_->certificate_errors.GetOrCreate({});
  for (const char* reason : {"queue_full", "rejected", "retry_limit", "stopped"}) {
    families_->dropped_events.GetOrCreate({{"reason", reason}});
  }
}

Metrics::~Metrics() = default;

std::string Metrics::Text() const {
  const Families& f = *families_;
  std::vector<MetricFamily> all;
  for (const prometheus::Collectable* family :
       std::initializer_list<const prometheus::Collectable*>{&f.depth,
                                                             &f.adds,
                                                             &f.latency,
                                                             &f.work_duration,
                                                             &f.unfinished,
                                                             &f.longest,
                                                             &f.retries,
                                                             &f.waiting_keys,
                                                             &f.failing_keys,
                                                             &f.rest_client,
                                                             &f.reconciles,
                                                             &f.informers,
                                                             &f.clusters,
                                                             &f.leader_elections,
                                                             &f.certificate_reads,
                                                             &f.certificate_errors,
                                                             &f.certificate_expiry,
                                                             &f.webhooks,
                                                             &f.dropped_events,
                                                             &f.write_loops,
                                                             &f.process,
                                                             &f.custom,
                                                             &f.log}) {
    std::ranges::move(family->Collect(), std::back_inserter(all));
  }
  return prometheus::TextSerializer().Serialize(all);
}

void Metrics::ObserveRequest(const RequestEvent& event) { families_->rest_client.Observe(event); }

void Metrics::ObserveRateLimiter(std::string_view method, std::string_view host, Duration wait) {
  families_->rest_client.ObserveRateLimiter(method, host, wait);
}

void Metrics::ObserveCertificateRead(bool succeeded) {
  families_->certificate_reads.GetOrCreate({})->Increment();
  if (!succeeded) families_->certificate_errors.GetOrCreate({})->Increment();
}

void Metrics::SetWebhookCertificateExpiry(WallTime expiry) {
  const std::chrono::duration<double> since_1970 = expiry.time_since_epoch();
  families_->certificate_expiry.GetOrCreate({})->Set(since_1970.count());
}

WebhookMetrics Metrics::NewWebhookMetrics(const std::string& path) {
  return families_->webhooks.Add(ToUtf8(path), Buckets());
}

std::unique_ptr<workqueue::Metric> Metrics::NewClusterSyncedMetric(const std::string& cluster,
                                                                   std::function<bool()> synced) {
  return families_->clusters.Add({{"cluster", ToUtf8(cluster)}},
                                 [synced = std::move(synced)] { return synced() ? 1.0 : 0.0; });
}

CounterVec Metrics::NewCounter(const MetricOptions& options) {
  return families_->custom.NewCounter(options);
}

GaugeVec Metrics::NewGauge(const MetricOptions& options) {
  return families_->custom.NewGauge(options);
}

HistogramVec Metrics::NewHistogram(const MetricOptions& options, std::vector<double> buckets) {
  return families_->custom.NewHistogram(options, std::move(buckets));
}

std::unique_ptr<ReconcileMetrics> Metrics::NewReconcileMetrics(const std::string& controller) {
  return families_->reconciles.Add(ToUtf8(controller));
}

std::unique_ptr<workqueue::Metric> Metrics::NewWaitingKeysMetric(const std::string& controller,
                                                                 std::function<double()> read) {
  return families_->waiting_keys.Add({{"controller", ToUtf8(controller)}}, std::move(read));
}

std::unique_ptr<workqueue::Metric> Metrics::NewFailingKeysMetric(const std::string& controller,
                                                                 std::function<double()> read) {
  return families_->failing_keys.Add({{"controller", ToUtf8(controller)}}, std::move(read));
}

std::unique_ptr<workqueue::GaugeMetric> Metrics::NewDepthMetric(const std::string& name,
                                                                const std::string& priority) {
  Labels labels = LabelsOf(name);
  labels.emplace("priority", priority);
  return std::make_unique<DepthGauge>(families_->depth, std::move(labels));
}

std::unique_ptr<workqueue::CounterMetric> Metrics::NewAddsMetric(const std::string& name) {
  return std::make_unique<SharedCounter>(families_->adds.GetOrCreate(LabelsOf(name)));
}

std::unique_ptr<workqueue::HistogramMetric> Metrics::NewLatencyMetric(const std::string& name) {
  return std::make_unique<SharedHistogram>(
      families_->latency.GetOrCreate(LabelsOf(name), Buckets()));
}

std::unique_ptr<workqueue::HistogramMetric> Metrics::NewWorkDurationMetric(
    const std::string& name) {
  return std::make_unique<SharedHistogram>(
      families_->work_duration.GetOrCreate(LabelsOf(name), Buckets()));
}

std::unique_ptr<workqueue::CounterMetric> Metrics::NewRetriesMetric(const std::string& name) {
  return std::make_unique<SharedCounter>(families_->retries.GetOrCreate(LabelsOf(name)));
}

std::unique_ptr<workqueue::Metric> Metrics::NewUnfinishedWorkSecondsMetric(
    const std::string& name, std::function<double()> read) {
  return families_->unfinished.Add(LabelsOf(name), std::move(read));
}

std::unique_ptr<workqueue::Metric> Metrics::NewLongestRunningProcessorSecondsMetric(
    const std::string& name, std::function<double()> read) {
  return families_->longest.Add(LabelsOf(name), std::move(read));
}

std::unique_ptr<workqueue::Metric> Metrics::NewInformerMetric(
    std::function<informer::InformerStatus()> read) {
  const auto read_utf8 = [read = std::move(read)] {
    informer::InformerStatus status = read();
    status.name = ToUtf8(status.name);
    status.kind = ToUtf8(status.kind);
    for (informer::HandlerStatus& handler : status.handlers) handler.name = ToUtf8(handler.name);
    return status;
  };
  return families_->informers.Add(read_utf8);
}

void Metrics::SetMasterStatus(const std::string& name, bool is_leader) {
  families_->leader_elections.SetMasterStatus(ToUtf8(name), is_leader);
}

void Metrics::AddSlowPath(const std::string& name) {
  families_->leader_elections.AddSlowPath(ToUtf8(name));
}

void Metrics::AddWriteLoop(const std::string& kind, const ObjectKey& object,
                           const std::string& fields, const std::string& writers) {
  families_->write_loops
      .GetOrCreate({{"kind", kind},
                    {"namespace", object.ns},
                    {"name", object.name},
                    {"fields", ToUtf8(fields)},
                    {"writers", ToUtf8(writers)}})
      ->Increment();
}

void Metrics::AddDroppedEvents(std::string_view reason, std::size_t count) {
  families_->dropped_events.GetOrCreate({{"reason", std::string(reason)}})
      ->Increment(static_cast<double>(count));
}

}  // namespace kopp
