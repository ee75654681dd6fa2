#include "webhook_collector.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace kopp {

WebhookMetrics WebhookCollector::Add(const std::string& path,
                                     const std::vector<double>& latency_bounds) {
  const HistogramVec latency(latency_, {"webhook"}, latency_bounds);
  const CounterVec requests(requests_, {"webhook", "code"});
  const GaugeVec in_flight(in_flight_, {"webhook"});
  static_cast<void>(CounterVec(conversion_panics_, {}).WithLabelValues());  // starts with 0
  for (const char* code : {"200", "500"}) {
    static_cast<void>(requests.WithLabelValues({path, code}));
  }
  return {.latency_seconds = latency.WithLabelValues({path}),
          .requests_in_flight = in_flight.WithLabelValues({path}),
          .requests_total = requests,
          .panics_total = CounterVec(panics_, {}).WithLabelValues()};
}

std::vector<prometheus::MetricFamily> WebhookCollector::Collect() const {
  std::vector<prometheus::MetricFamily> all;
  for (const prometheus::Collectable* family :
       std::initializer_list<const prometheus::Collectable*>{latency_.get(), requests_.get(),
                                                             in_flight_.get(), panics_.get(),
                                                             conversion_panics_.get()}) {
    std::ranges::move(family->Collect(), std::back_inserter(all));
  }
  return all;
}

}  // namespace kopp
