#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

namespace kopp {

/// A part of the fields of /proc/PID/stat.
struct ProcessStat {
  double cpu_ticks = 0;    ///< in user and kernel mode; sysconf(_SC_CLK_TCK) ticks are a second
  double start_ticks = 0;  ///< from the boot of the machine to the start of the process
  double virtual_bytes = 0;
  double resident_pages = 0;
};

/// Parses the text of /proc/PID/stat. Returns nullopt if fields are missing.
[[nodiscard]] std::optional<ProcessStat> ParseProcessStat(std::string_view text);

/// The metrics `process_…` of this process, with the names of Prometheus's own client libraries.
/// They are read from /proc when they are collected. Thread-safe.
class ProcessCollector final : public prometheus::Collectable {
 public:
  /// Leaves out what cannot be read.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;
};

}  // namespace kopp
