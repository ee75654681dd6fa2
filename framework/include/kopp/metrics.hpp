#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// The metrics of one program, in the names and labels of controller-runtime, so that dashboards
/// and alerts made for it show a program of ours as well. Safe to use from any thread.
///
///     kopp::Metrics metrics;
///     kopp::workqueue::Queue<std::string> queue{{.name = "foo", .metrics = &metrics}};
///     std::cout << metrics.Text();  // workqueue_adds_total{controller="foo",name="foo"} 0 …
///
/// Queues of one name share their series: counts and depths are of all of them together, the
/// longest time in hand is the longest of any. A series goes with the last queue that has it. Bytes
/// of a name that are not UTF-8 are replaced: they would spoil the whole text for its reader.
class Metrics final : public workqueue::MetricsProvider {
 public:
  /// Of what Text answers.
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  Metrics();
  ~Metrics() override;

  /// All series as they are now, in Prometheus' text format. Asks the queues how long they have had
  /// in hand what they have, so it takes their locks, one after the other, each for a moment.
  [[nodiscard]] std::string Text() const;

  // What queues ask for.
  std::unique_ptr<workqueue::Gauge> NewDepthMetric(const std::string& name,
                                                   const std::string& priority) override;
  std::unique_ptr<workqueue::Counter> NewAddsMetric(const std::string& name) override;
  std::unique_ptr<workqueue::Histogram> NewLatencyMetric(const std::string& name) override;
  std::unique_ptr<workqueue::Histogram> NewWorkDurationMetric(const std::string& name) override;
  std::unique_ptr<workqueue::Counter> NewRetriesMetric(const std::string& name) override;
  std::unique_ptr<workqueue::Metric> NewUnfinishedWorkSecondsMetric(
      const std::string& name, std::function<double()> read) override;
  std::unique_ptr<workqueue::Metric> NewLongestRunningProcessorSecondsMetric(
      const std::string& name, std::function<double()> read) override;

 private:
  struct Families;

  std::unique_ptr<Families> families_;
};

}  // namespace kopp
