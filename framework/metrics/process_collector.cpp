#include "process_collector.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <prometheus/metric_type.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kopp {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::string ReadProcFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the line of /proc/stat that begins with "btime": the seconds from 1970 to the boot.
std::optional<double> BootTime() {
  constexpr std::string_view kName = "\nbtime ";
  const std::string text = ReadProcFile("/proc/stat");
  const auto line = text.find(kName);
  if (line == std::string::npos) return std::nullopt;
  double seconds = 0;
  const char* digits = text.data() + line + kName.size();
  if (std::from_chars(digits, text.data() + text.size(), seconds).ec != std::errc()) {
    return std::nullopt;
  }
  return seconds;
}

std::optional<double> OpenDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator first("/proc/self/fd", error);
  if (error) return std::nullopt;
  const auto count = std::distance(begin(first), end(first));
  return static_cast<double>(count - 1);  // without that of the iterator
}

std::optional<double> MaxDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

// The name of the process, in parentheses, may contain spaces and parentheses itself.
std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  constexpr std::size_t kState = 3;  // the number of the field after the name; the first field is 1
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  std::array<double, 25> fields{};  // by number; those that are no numbers stay 0
  std::size_t number = kState;
  for (; number < fields.size(); ++number) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) break;
    const std::string_view field = text.substr(0, text.find(' '));
    std::from_chars(field.data(), field.data() + field.size(), fields[number]);
    text.remove_prefix(field.size());
  }
  if (number < fields.size()) return std::nullopt;
  return ProcessStat{.cpu_ticks = fields[14] + fields[15],
                     .start_ticks = fields[22],
                     .virtual_bytes = fields[23],
                     .resident_pages = fields[24]};
}

std::vector<MetricFamily> ProcessCollector::Collect() const {
  std::vector<MetricFamily> all;
  const auto add = [&all](const char* name, const char* help, MetricType type,
                          std::optional<double> value) {
    if (!value) return;
    auto& metric = all.emplace_back(MetricFamily{name, help, type, {}}).metric.emplace_back();
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
  };
  const auto gauge = MetricType::Gauge;
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  if (const auto stat = ParseProcessStat(ReadProcFile("/proc/self/stat"))) {
    add("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
        MetricType::Counter, stat->cpu_ticks / ticks_per_second);
    add("process_resident_memory_bytes", "Resident memory size in bytes.", gauge,
        stat->resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    add("process_virtual_memory_bytes", "Virtual memory size in bytes.", gauge,
        stat->virtual_bytes);
    if (const auto boot = BootTime()) {
      add("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
          gauge, *boot + stat->start_ticks / ticks_per_second);
    }
  }
  add("process_open_fds", "Number of open file descriptors.", gauge, OpenDescriptors());
  add("process_max_fds", "Maximum number of open file descriptors.", gauge, MaxDescriptors());
  return all;
}

}  // namespace kopp
