#pragma once

#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

namespace kopp {

/// The counter `kopp_log_lines_dropped_total`: lines that standard error did not accept.
/// Thread-safe.
class LogCollector final : public prometheus::Collectable {
 public:
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace kopp
