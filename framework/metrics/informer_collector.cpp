#include "informer_collector.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <prometheus/client_metric.h>
#include <prometheus/labels.h>
#include <prometheus/metric_type.h>

namespace kopp {
namespace {

using informer::HandlerStatus;
using informer::InformerStatus;
using prometheus::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// Returns 0 if the version is not a number.
double VersionNumber(const std::string& version) {
  double number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

/// The families of a collection, by name. Series with equal labels are merged.
class FamilyBuilder {
 public:
  enum class Merge { kSum, kMax };

  void Add(std::string_view name, std::string_view help, MetricType type, Merge merge,
           const Labels& labels, double value) {
    Family& family =
        families_.try_emplace(std::string(name), Family{std::string(help), type, {}}).first->second;
    const auto [series, is_first] = family.series.emplace(labels, value);
    if (is_first) return;
    series->second =
        merge == Merge::kSum ? series->second + value : std::max(series->second, value);
  }

  [[nodiscard]] std::vector<MetricFamily> Build() const {
    std::vector<MetricFamily> all;
    for (const auto& [name, family] : families_) {
      MetricFamily& built = all.emplace_back(MetricFamily{name, family.help, family.type, {}});
      for (const auto& [labels, value] : family.series) {
        auto& metric = built.metric.emplace_back();
        for (const auto& [label, text] : labels) metric.label.push_back({label, text});
        (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
      }
    }
    return all;
  }

 private:
  struct Family {
    std::string help;
    MetricType type;
    std::map<Labels, double> series;
  };
  std::map<std::string, Family> families_;
};

using Merge = FamilyBuilder::Merge;

/// A metric with one value for each status: InformerStatus or HandlerStatus.
template <typename Status>
struct StatusMetric {
  std::string_view name;
  MetricType type;
  Merge merge;
  double (*value)(const Status& status);
  std::string_view help;
};

constexpr StatusMetric<InformerStatus> kInformerMetrics[] = {
    {"kopp_informer_synced", MetricType::Gauge, Merge::kSum,
     [](const InformerStatus& s) { return s.synced ? 1.0 : 0.0; },
     "1 if the store has the first list, else 0."},
    {"kopp_informer_objects", MetricType::Gauge, Merge::kSum,
     [](const InformerStatus& s) { return static_cast<double>(s.objects); },
     "Number of objects in the store."},
    {"kopp_informer_resource_version", MetricType::Gauge, Merge::kMax,
     [](const InformerStatus& s) { return VersionNumber(s.resource_version); },
     "Resource version up to which all changes were applied."},
    {"kopp_informer_resource_version_age_seconds", MetricType::Gauge, Merge::kMax,
     [](const InformerStatus& s) { return Seconds(s.resource_version_age); },
     "Seconds since the last list, event or bookmark."},
    {"kopp_informer_lists_total", MetricType::Counter, Merge::kSum,
     [](const InformerStatus& s) { return static_cast<double>(s.lists); },
     "Total number of complete lists. All but the first are relists."},
    {"kopp_informer_skipped_objects_total", MetricType::Counter, Merge::kSum,
     [](const InformerStatus& s) { return static_cast<double>(s.skipped_objects); },
     "Total number of objects of lists and events that could not be applied."},
    {"kopp_informer_drifted_objects_total", MetricType::Counter, Merge::kSum,
     [](const InformerStatus& s) { return static_cast<double>(s.drifted_objects); },
     "Total number of objects that audits found to differ from the server."},
    {"kopp_informer_errors_total", MetricType::Counter, Merge::kSum,
     [](const InformerStatus& s) { return static_cast<double>(s.errors); },
     "Total number of lists and watches that failed."},
};

constexpr StatusMetric<HandlerStatus> kHandlerMetrics[] = {
    {"kopp_informer_handler_queue_depth", MetricType::Gauge, Merge::kSum,
     [](const HandlerStatus& s) { return static_cast<double>(s.queue_depth); },
     "Number of objects with events that wait for the handler."},
    {"kopp_informer_handler_busy_seconds", MetricType::Gauge, Merge::kMax,
     [](const HandlerStatus& s) { return Seconds(s.busy_for); },
     "Seconds that the running call of the handler has taken so far; 0 if it is idle."},
    {"kopp_informer_handler_calls_total", MetricType::Counter, Merge::kSum,
     [](const HandlerStatus& s) { return static_cast<double>(s.calls); },
     "Total number of calls of the handler."},
    {"kopp_informer_handler_errors_total", MetricType::Counter, Merge::kSum,
     [](const HandlerStatus& s) { return static_cast<double>(s.errors); },
     "Total number of calls of the handler that threw."},
};

Labels With(Labels labels, const std::string& name, std::string_view value) {
  labels.emplace(name, value);
  return labels;
}

void AddStatus(const InformerStatus& status, FamilyBuilder& families) {
  const Labels labels{{"kind", status.kind}, {"name", status.name}};
  for (const auto& metric : kInformerMetrics) {
    families.Add(metric.name, metric.help, metric.type, metric.merge, labels, metric.value(status));
  }
  for (const auto& [type, count] : status.events) {
    families.Add("kopp_informer_events_total", "Total number of watch events, by type.",
                 MetricType::Counter, Merge::kSum, With(labels, "type", type),
                 static_cast<double>(count));
  }
  for (const auto& [reason, count] : status.watch_ends) {
    families.Add("kopp_informer_watch_ends_total", "Total number of watches that ended, by reason.",
                 MetricType::Counter, Merge::kSum, With(labels, "reason", reason),
                 static_cast<double>(count));
  }
  for (const HandlerStatus& handler : status.handlers) {
    const Labels handler_labels = With(labels, "handler", handler.name);
    for (const auto& metric : kHandlerMetrics) {
      families.Add(metric.name, metric.help, metric.type, metric.merge, handler_labels,
                   metric.value(handler));
    }
  }
}

}  // namespace

std::unique_ptr<workqueue::Metric> InformerCollector::Add(std::function<InformerStatus()> read) {
  auto callback = std::make_shared<Callback>(std::move(read));
  auto callbacks = callbacks_.Lock();
  std::erase_if(*callbacks, [](const auto& entry) { return entry.expired(); });
  callbacks->push_back(callback);
  return std::make_unique<CallbackMetric<InformerStatus>>(std::move(callback));
}

// Does not hold the lock of callbacks_ during a callback, so that informers can be created and
// destroyed meanwhile.
std::vector<MetricFamily> InformerCollector::Collect() const {
  FamilyBuilder families;
  const auto callbacks = *callbacks_.Lock();
  for (const auto& entry : callbacks) {
    const auto callback = entry.lock();
    if (const auto status = callback ? callback->Read() : std::nullopt)
      AddStatus(*status, families);
  }
  return families.Build();
}

}  // namespace kopp
