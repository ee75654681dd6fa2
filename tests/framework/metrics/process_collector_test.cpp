#include "metrics/process_collector.hpp"

#include <ctime>
#include <map>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <kopp/metrics.hpp>

namespace kopp {
namespace {

/// Returns the values of the collected metrics by name.
std::map<std::string, double> CollectProcess() {
  std::map<std::string, double> values;
  for (const auto& family : ProcessCollector().Collect()) {
    const auto& metric = family.metric.front();
    const bool is_counter = family.type == prometheus::MetricType::Counter;
    values[family.name] = is_counter ? metric.counter.value : metric.gauge.value;
  }
  return values;
}

TEST(ProcessCollectorTest, ScrapeHasAllProcessMetrics) {
  const std::string text = Metrics().Text();
  for (const char* line :
       {"process_cpu_seconds_total counter", "process_resident_memory_bytes gauge",
        "process_virtual_memory_bytes gauge", "process_open_fds gauge", "process_max_fds gauge",
        "process_start_time_seconds gauge"}) {
    EXPECT_THAT(text, ::testing::HasSubstr("# TYPE " + std::string(line)));
  }
}

TEST(ProcessCollectorTest, OpenDescriptorsAreCounted) {
  const double before = CollectProcess()["process_open_fds"];
  const int opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const double after = CollectProcess()["process_open_fds"];
  ::close(opened);

  EXPECT_EQ(after, before + 1);
  EXPECT_LE(after, CollectProcess()["process_max_fds"]);
}

TEST(ProcessCollectorTest, StartTimeIsBeforeNowAndAfterTheBoot) {
  const auto now = static_cast<double>(std::time(nullptr));
  timespec uptime{};
  ::clock_gettime(CLOCK_BOOTTIME, &uptime);

  const double start = CollectProcess()["process_start_time_seconds"];

  EXPECT_LE(start, now + 1);
  EXPECT_GE(start, now - static_cast<double>(uptime.tv_sec) - 2);
}

TEST(ProcessCollectorTest, MemoryIsPlausible) {
  auto values = CollectProcess();

  EXPECT_GT(values["process_resident_memory_bytes"], 1 << 20);
  EXPECT_GT(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
}

TEST(ProcessCollectorTest, NameOfTheProcessMayContainSpacesAndParentheses) {
  const auto stat = ParseProcessStat(
      "42 (a) b (c) S 1 42 42 0 -1 4194560 93 0 0 0 150 50 0 0 20 0 3 0 9000 8192000 250 "
      "18446744073709551615 1 1\n");

  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->cpu_ticks, 200);
  EXPECT_EQ(stat->start_ticks, 9000);
  EXPECT_EQ(stat->virtual_bytes, 8192000);
  EXPECT_EQ(stat->resident_pages, 250);
}

TEST(ProcessCollectorTest, IncompleteStatIsRejected) {
  EXPECT_FALSE(ParseProcessStat(""));
  EXPECT_FALSE(ParseProcessStat("42 (a) S 1 2 3"));
}

}  // namespace
}  // namespace kopp
