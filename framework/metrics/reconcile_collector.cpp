#include "reconcile_collector.hpp"

#include <array>
#include <chrono>
#include <cstddef>

#include <prometheus/client_metric.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_type.h>

namespace kopp {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array kResults{ReconcileResult::kError, ReconcileResult::kRequeue,
                              ReconcileResult::kRequeueAfter, ReconcileResult::kSuccess};

// The bounds of controller_runtime_reconcile_time_seconds.
prometheus::Histogram::BucketBoundaries DurationBuckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
          0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
          6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
}

}  // namespace

struct ReconcileCollector::Series {
  prometheus::Counter& Of(ReconcileResult result) {
    return results.at(static_cast<std::size_t>(result));
  }

  std::array<prometheus::Counter, kResults.size()> results{};
  prometheus::Counter errors{};
  prometheus::Counter terminal_errors{};
  prometheus::Counter panics{};
  prometheus::Counter timeouts{};
  prometheus::Histogram duration{DurationBuckets()};
  prometheus::Gauge max_concurrent{};
  prometheus::Gauge active{};
};

class ReconcileCollector::User final : public ReconcileMetrics {
 public:
  explicit User(std::shared_ptr<Series> series) : series_(std::move(series)) {}
  ~User() override { series_->max_concurrent.Decrement(*workers_.Lock()); }

  void SetWorkers(int workers) override {
    const int previous = std::exchange(*workers_.Lock(), workers);
    series_->max_concurrent.Increment(workers - previous);
  }
  void AddActive(int change) override { series_->active.Increment(change); }
  void Observe(const ReconcileEvent& event) override {
    series_->Of(event.result).Increment();
    series_->duration.Observe(std::chrono::duration<double>(event.duration).count());
    if (event.result == ReconcileResult::kError) series_->errors.Increment();
    if (event.terminal) series_->terminal_errors.Increment();
    if (event.panic) series_->panics.Increment();
    if (event.timed_out) series_->timeouts.Increment();
  }

 private:
  const std::shared_ptr<Series> series_;
  detail::Guarded<int> workers_{0};
};

std::unique_ptr<ReconcileMetrics> ReconcileCollector::Add(const std::string& controller) {
  auto all = series_.Lock();
  std::erase_if(*all, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Series>& entry = (*all)[controller];
  std::shared_ptr<Series> series = entry.lock();
  if (!series) entry = series = std::make_shared<Series>();
  return std::make_unique<User>(std::move(series));
}

MetricFamily ReconcileCollector::TotalOf(const LiveSeries& live) {
  MetricFamily family{"controller_runtime_reconcile_total",
                      "Total number of reconciliations per controller",
                      MetricType::Counter,
                      {}};
  for (const auto& [controller, series] : live) {
    for (const ReconcileResult result : kResults) {
      ClientMetric& metric = family.metric.emplace_back(series->Of(result).Collect());
      metric.label = {{"controller", controller}, {"result", std::string(ToString(result))}};
    }
  }
  return family;
}

template <typename T>
MetricFamily ReconcileCollector::FamilyOf(const LiveSeries& live, T Series::*member,
                                          const std::string& name, const std::string& help) {
  MetricFamily family{"controller_runtime_" + name, help + " per controller", T::metric_type, {}};
  for (const auto& [controller, series] : live) {
    ClientMetric& metric = family.metric.emplace_back(((*series).*member).Collect());
    metric.label = {{"controller", controller}};
  }
  return family;
}

// Holds the lock throughout: otherwise a scrape could keep a series alive after its controller, and
// a new controller would continue its count.
std::vector<MetricFamily> ReconcileCollector::Collect() const {
  auto all = series_.Lock();
  LiveSeries live;
  for (const auto& [controller, entry] : *all) {
    if (auto series = entry.lock()) live.emplace_back(controller, std::move(series));
  }
  if (live.empty()) return {};
  return {
      TotalOf(live),
      FamilyOf(live, &Series::errors, "reconcile_errors_total",
               "Total number of reconciliation errors"),
      FamilyOf(live, &Series::terminal_errors, "terminal_reconcile_errors_total",
               "Total number of terminal reconciliation errors"),
      FamilyOf(live, &Series::panics, "reconcile_panics_total",
               "Total number of reconciliation panics (exceptions other than std::exception)"),
      FamilyOf(live, &Series::timeouts, "reconcile_timeouts_total",
               "Total number of reconciliation timeouts"),
      FamilyOf(live, &Series::duration, "reconcile_time_seconds",
               "Length of time per reconciliation"),
      FamilyOf(live, &Series::max_concurrent, "max_concurrent_reconciles",
               "Maximum number of concurrent reconciles"),
      FamilyOf(live, &Series::active, "active_workers", "Number of currently used workers"),
  };
}

}  // namespace kopp
