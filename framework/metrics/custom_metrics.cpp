#include "custom_metrics.hpp"

#include "base/quoted.hpp"
#include "metrics/metric_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

#include <prometheus/check_names.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>

namespace kopp {
namespace {

// The prefixes of the metrics that kopp itself has, now or in a later version.
constexpr std::string_view kReservedPrefixes[] = {
    "certwatcher_", "controller_runtime_", "kopp_",     "leader_election_",
    "process_",     "rest_client_",        "workqueue_"};

std::invalid_argument InvalidMetric(const MetricOptions& options, const std::string& problem) {
  return std::invalid_argument("the metric " + detail::Quoted(options.name) + " " + problem);
}

void ValidateName(const MetricOptions& options) {
  if (!prometheus::CheckMetricName(options.name)) {
    throw InvalidMetric(options, "has an invalid name: use letters, digits and '_'");
  }
  for (const std::string_view prefix : kReservedPrefixes) {
    if (options.name.starts_with(prefix)) {
      throw InvalidMetric(options, "has the prefix " + std::string(prefix) +
                                       ", which is reserved for kopp: begin the name with that of "
                                       "your operator");
    }
  }
}

void ValidateLabels(const MetricOptions& options, bool is_histogram) {
  std::set<std::string> labels;
  for (const std::string& label : options.labels) {
    if (!prometheus::CheckLabelName(label) || (is_histogram && label == "le")) {
      throw InvalidMetric(options, "has an invalid label " + detail::Quoted(label) +
                                       ": use letters, digits and '_', not \"le\", and no name "
                                       "that begins with \"__\"");
    }
    if (!labels.insert(label).second) {
      throw InvalidMetric(options, "has two labels " + detail::Quoted(label));
    }
  }
}

void ValidateBuckets(const MetricOptions& options, const std::vector<double>& buckets) {
  const bool is_finite = std::all_of(buckets.begin(), buckets.end(),
                                     [](double bound) { return std::isfinite(bound); });
  const bool is_increasing =
      std::adjacent_find(buckets.begin(), buckets.end(), std::greater_equal<>()) == buckets.end();
  if (!is_finite || !is_increasing) {
    throw InvalidMetric(options,
                        "has invalid buckets: their bounds must be finite and strictly increasing");
  }
}

/// Returns the names of the lines that a family has in the text format.
std::vector<std::string> SampleNames(const std::string& name, bool is_histogram) {
  if (!is_histogram) return {name};
  return {name, name + "_bucket", name + "_count", name + "_sum"};
}

/// The text format has one line for the help.
std::string HelpText(const MetricOptions& options) {
  std::string help = ToUtf8(options.help);
  std::replace(help.begin(), help.end(), '\n', ' ');
  return help;
}

/// Returns the labels of a series. `function` is the caller, for the error.
prometheus::Labels LabelsOf(const std::string& function, const std::vector<std::string>& names,
                            std::initializer_list<std::string_view> values) {
  if (values.size() != names.size()) {
    throw std::invalid_argument(function + " got " + std::to_string(values.size()) +
                                " values for a metric with " + std::to_string(names.size()) +
                                " labels");
  }
  prometheus::Labels labels;
  auto name = names.begin();
  for (const std::string_view value : values) labels.emplace(*name++, ToUtf8(std::string(value)));
  return labels;
}

}  // namespace

void Counter::Inc(double amount) const { series_->Increment(amount); }

void Gauge::Set(double value) const { series_->Set(value); }
void Gauge::Inc(double amount) const { series_->Increment(amount); }
void Gauge::Dec(double amount) const { series_->Decrement(amount); }

void Histogram::Observe(double value) const { series_->Observe(value); }

template <typename Metric, typename Series>
Metric MetricVec<Metric, Series>::WithLabelValues(
    std::initializer_list<std::string_view> values) const {
  const prometheus::Labels labels = LabelsOf("WithLabelValues", labels_, values);
  if constexpr (std::is_same_v<Series, prometheus::Histogram>) {
    return Metric(family_->GetOrCreate(labels, buckets_));
  } else {
    return Metric(family_->GetOrCreate(labels));
  }
}

template <typename Metric, typename Series>
bool MetricVec<Metric, Series>::DeleteLabelValues(
    std::initializer_list<std::string_view> values) const {
  return family_->Remove(LabelsOf("DeleteLabelValues", labels_, values));
}

template class MetricVec<Counter, prometheus::Counter>;
template class MetricVec<Gauge, prometheus::Gauge>;
template class MetricVec<Histogram, prometheus::Histogram>;

template <typename T>
std::shared_ptr<PermanentFamily<T>> CustomMetrics::NewFamily(const MetricOptions& options) {
  constexpr bool kIsHistogram = std::is_same_v<T, prometheus::Histogram>;
  ValidateName(options);
  ValidateLabels(options, kIsHistogram);
  auto family = std::make_shared<PermanentFamily<T>>(options.name, HelpText(options));
  const auto names = SampleNames(options.name, kIsHistogram);
  auto state = state_.Lock();
  for (const std::string& name : names) {
    if (state->sample_names.contains(name)) {
      throw InvalidMetric(options, "cannot be added: there is already a metric with the line " +
                                       detail::Quoted(name));
    }
  }
  state->sample_names.insert(names.begin(), names.end());
  state->families.emplace(options.name, family);
  return family;
}

// A metric without labels has its only series from the start, as in Prometheus's client libraries.
CounterVec CustomMetrics::NewCounter(const MetricOptions& options) {
  CounterVec counters(NewFamily<prometheus::Counter>(options), options.labels);
  if (options.labels.empty()) static_cast<void>(counters.WithLabelValues());
  return counters;
}

GaugeVec CustomMetrics::NewGauge(const MetricOptions& options) {
  GaugeVec gauges(NewFamily<prometheus::Gauge>(options), options.labels);
  if (options.labels.empty()) static_cast<void>(gauges.WithLabelValues());
  return gauges;
}

HistogramVec CustomMetrics::NewHistogram(const MetricOptions& options,
                                         std::vector<double> buckets) {
  if (buckets.empty()) buckets = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  ValidateBuckets(options, buckets);
  HistogramVec histograms(NewFamily<prometheus::Histogram>(options), options.labels,
                          std::move(buckets));
  if (options.labels.empty()) static_cast<void>(histograms.WithLabelValues());
  return histograms;
}

std::vector<prometheus::MetricFamily> CustomMetrics::Collect() const {
  const auto families = state_.Lock()->families;
  std::vector<prometheus::MetricFamily> all;
  for (const auto& [name, family] : families) {
    std::ranges::move(family->Collect(), std::back_inserter(all));
  }
  return all;
}

}  // namespace kopp
