#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

#include <kopp/metrics.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using prometheus::ClientMetric;
using prometheus::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

void SetLabels(ClientMetric& metric, const Labels& labels) {
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
}

// A family without series says nothing.
std::vector<MetricFamily> NoneIfEmpty(MetricFamily family) {
  if (family.metric.empty()) return {};
  return {std::move(family)};
}

/// Counters or histograms of one name. Whoever asks for the same labels gets the same series.
///
/// Not prometheus::Family, which cannot tell when the last of several users of a series goes.
template <typename T>
class Counts final : public prometheus::Collectable {
 public:
  Counts(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}

  template <typename... Args>
  std::shared_ptr<T> Of(const Labels& labels, const Args&... args) {
    auto series = series_.Lock();
    std::erase_if(*series, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<T>& known = (*series)[labels];
    std::shared_ptr<T> one = known.lock();
    if (!one) known = one = std::make_shared<T>(args...);
    return one;
  }

  // With the lock held throughout, so that no series outlives its queues because it is looked at.
  [[nodiscard]] std::vector<MetricFamily> Collect() const override {
    MetricFamily family{name_, help_, T::metric_type, {}};
    auto series = series_.Lock();
    for (const auto& [labels, known] : *series) {
      const auto one = known.lock();
      if (!one) continue;
      SetLabels(family.metric.emplace_back(one->Collect()), labels);
    }
    return NoneIfEmpty(std::move(family));
  }

 private:
  const std::string name_;
  const std::string help_;
  mutable Guarded<std::map<Labels, std::weak_ptr<T>>> series_;  // expired ones are forgotten later
};

/// One queue's part of a gauge that is read when somebody looks.
class Reading {
 public:
  explicit Reading(std::function<double()> read) : read_(std::move(read)) {}

  /// Nothing after End, and from a `read` that throws.
  std::optional<double> Read() {
    const std::lock_guard guard{mutex_};
    if (!read_) return std::nullopt;
    try {
      return read_();
    } catch (...) {
      return std::nullopt;
    }
  }

  /// Waits for a Read that goes on; there is none afterwards.
  void End() {
    const std::lock_guard guard{mutex_};
    read_ = nullptr;
  }

 private:
  std::mutex mutex_;  // held while reading: what that waits for must not wait for End
  std::function<double()> read_;
};

class ReadMetric final : public workqueue::Metric {
 public:
  explicit ReadMetric(std::shared_ptr<Reading> reading) : reading_(std::move(reading)) {}
  ~ReadMetric() override { reading_->End(); }

 private:
  std::shared_ptr<Reading> reading_;
};

/// Gauges of one name, each made of the readings with the same labels.
class Readings final : public prometheus::Collectable {
 public:
  using Merge = double (*)(double, double);

  Readings(std::string name, std::string help, Merge merge)
      : name_(std::move(name)), help_(std::move(help)), merge_(merge) {}

  std::unique_ptr<workqueue::Metric> Add(Labels labels, std::function<double()> read) {
    auto reading = std::make_shared<Reading>(std::move(read));
    auto readings = readings_.Lock();
    std::erase_if(*readings, [](const auto& entry) { return entry.second.expired(); });
    readings->emplace_back(std::move(labels), reading);
    return std::make_unique<ReadMetric>(std::move(reading));
  }

  // Reads with no lock of ours held but the reading's own: a queue may come or go meanwhile.
  [[nodiscard]] std::vector<MetricFamily> Collect() const override {
    std::map<Labels, double> values;
    const auto readings = *readings_.Lock();
    for (const auto& [labels, known] : readings) {
      const auto reading = known.lock();
      const auto value = reading ? reading->Read() : std::nullopt;
      if (!value) continue;
      const auto [place, is_first] = values.emplace(labels, *value);
      if (!is_first) place->second = merge_(place->second, *value);
    }
    MetricFamily family{name_, help_, MetricType::Gauge, {}};
    for (const auto& [labels, value] : values) {
      SetLabels(family.metric.emplace_back(), labels);
      family.metric.back().gauge.value = value;
    }
    return NoneIfEmpty(std::move(family));
  }

 private:
  using Entry = std::pair<Labels, std::weak_ptr<Reading>>;

  const std::string name_;
  const std::string help_;
  const Merge merge_;
  mutable Guarded<std::vector<Entry>> readings_;  // expired ones are forgotten later
};

double Sum(double a, double b) { return a + b; }
double Longest(double a, double b) { return std::max(a, b); }

class CounterOf final : public workqueue::Counter {
 public:
  explicit CounterOf(std::shared_ptr<prometheus::Counter> series) : series_(std::move(series)) {}
  void Inc() override { series_->Increment(); }

 private:
  std::shared_ptr<prometheus::Counter> series_;
};

class HistogramOf final : public workqueue::Histogram {
 public:
  explicit HistogramOf(std::shared_ptr<prometheus::Histogram> series)
      : series_(std::move(series)) {}
  void Observe(double seconds) override { series_->Observe(seconds); }

 private:
  std::shared_ptr<prometheus::Histogram> series_;
};

/// Counts by itself and is read like the others, so that what a queue leaves behind when it goes is
/// not in the sum any more.
class DepthGauge final : public workqueue::Gauge {
 public:
  DepthGauge(Readings& depths, Labels labels)
      : reading_(depths.Add(std::move(labels), [this] {
          return static_cast<double>(std::max<std::int64_t>(ready_, 0));  // a Dec may come first
        })) {}
  void Inc() override { ++ready_; }
  void Dec() override { --ready_; }

 private:
  std::atomic<std::int64_t> ready_ = 0;
  std::unique_ptr<workqueue::Metric> reading_;  // last: it reads ready_
};

// From 10 ns to 1000 s: prometheus.ExponentialBuckets(10e-9, 10, 12), rounding errors included,
// which are part of the label le.
std::vector<double> Buckets() {
  std::vector<double> bounds{10e-9};
  while (bounds.size() < 12) bounds.push_back(bounds.back() * 10);
  return bounds;
}

std::string Utf8(const std::string& text) {
  using Json = nlohmann::json;
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

Labels LabelsOf(const std::string& name) {
  const std::string value = Utf8(name);
  return {{"name", value}, {"controller", value}};
}

}  // namespace

struct Metrics::Families {
  Readings depth{"workqueue_depth", "Items that are ready and wait for a worker.", Sum};
  Counts<prometheus::Counter> adds{"workqueue_adds_total",
                                   "Adds of items that were not waiting to be worked on already."};
  Counts<prometheus::Histogram> latency{"workqueue_queue_duration_seconds",
                                        "How long items waited from their add to a worker."};
  Counts<prometheus::Histogram> work_duration{"workqueue_work_duration_seconds",
                                              "How long items were in a worker's hand."};
  Readings unfinished{"workqueue_unfinished_work_seconds",
                      "How long the items in workers' hands have been there, summed. It grows by "
                      "one a second for each worker that is stuck.",
                      Sum};
  Readings longest{"workqueue_longest_running_processor_seconds",
                   "How long the item that is in a worker's hand for longest has been there.",
                   Longest};
  Counts<prometheus::Counter> retries{"workqueue_retries_total",
                                      "Items added to be worked on again later."};
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}

Metrics::~Metrics() = default;

std::string Metrics::Text() const {
  const Families& f = *families_;
  std::vector<MetricFamily> all;
  for (const prometheus::Collectable* one : std::initializer_list<const prometheus::Collectable*>{
           &f.depth, &f.adds, &f.latency, &f.work_duration, &f.unfinished, &f.longest,
           &f.retries}) {
    std::ranges::move(one->Collect(), std::back_inserter(all));
  }
  return prometheus::TextSerializer().Serialize(all);
}

std::unique_ptr<workqueue::Gauge> Metrics::NewDepthMetric(const std::string& name,
                                                          const std::string& priority) {
  Labels labels = LabelsOf(name);
  labels.emplace("priority", priority);
  return std::make_unique<DepthGauge>(families_->depth, std::move(labels));
}

std::unique_ptr<workqueue::Counter> Metrics::NewAddsMetric(const std::string& name) {
  return std::make_unique<CounterOf>(families_->adds.Of(LabelsOf(name)));
}

std::unique_ptr<workqueue::Histogram> Metrics::NewLatencyMetric(const std::string& name) {
  return std::make_unique<HistogramOf>(families_->latency.Of(LabelsOf(name), Buckets()));
}

std::unique_ptr<workqueue::Histogram> Metrics::NewWorkDurationMetric(const std::string& name) {
  return std::make_unique<HistogramOf>(families_->work_duration.Of(LabelsOf(name), Buckets()));
}

std::unique_ptr<workqueue::Counter> Metrics::NewRetriesMetric(const std::string& name) {
  return std::make_unique<CounterOf>(families_->retries.Of(LabelsOf(name)));
}

std::unique_ptr<workqueue::Metric> Metrics::NewUnfinishedWorkSecondsMetric(
    const std::string& name, std::function<double()> read) {
  return families_->unfinished.Add(LabelsOf(name), std::move(read));
}

std::unique_ptr<workqueue::Metric> Metrics::NewLongestRunningProcessorSecondsMetric(
    const std::string& name, std::function<double()> read) {
  return families_->longest.Add(LabelsOf(name), std::move(read));
}

}  // namespace kopp
