#include "log_collector.hpp"

#include <prometheus/client_metric.h>
#include <prometheus/metric_type.h>

#include <kopp/log.hpp>

namespace kopp {

std::vector<prometheus::MetricFamily> LogCollector::Collect() const {
  prometheus::ClientMetric dropped;
  dropped.counter.value = static_cast<double>(GetLogStatus().dropped_lines);
  return {{"kopp_log_lines_dropped_total",
           "Log lines that were dropped, because standard error did not accept them.",
           prometheus::MetricType::Counter,
           {dropped}}};
}

}  // namespace kopp
