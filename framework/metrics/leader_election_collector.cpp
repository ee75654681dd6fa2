#include "leader_election_collector.hpp"

#include <utility>

namespace kopp {

void LeaderElectionCollector::SetMasterStatus(const std::string& name, bool is_leader) {
  (*elections_.Lock())[name].is_leader = is_leader;
}

void LeaderElectionCollector::AddSlowPath(const std::string& name) {
  ++(*elections_.Lock())[name].slow_paths;
}

std::vector<prometheus::MetricFamily> LeaderElectionCollector::Collect() const {
  const auto elections = *elections_.Lock();
  if (elections.empty()) return {};
  prometheus::MetricFamily status{
      .name = "leader_election_master_status",
      .help = "Whether this replica is the leader (1) or not (0). 'name' is the name of the Lease.",
      .type = prometheus::MetricType::Gauge,
      .metric = {}};
  prometheus::MetricFamily slow_paths{
      .name = "leader_election_slowpath_total",
      .help =
          "Total number of renewals that read the Lease before they wrote it. 'name' is the "
          "name of the Lease.",
      .type = prometheus::MetricType::Counter,
      .metric = {}};
  for (const auto& [name, election] : elections) {
    prometheus::ClientMetric metric;
    metric.label.push_back({"name", name});
    metric.gauge.value = election.is_leader ? 1 : 0;
    metric.counter.value = election.slow_paths;
    status.metric.push_back(metric);
    slow_paths.metric.push_back(std::move(metric));
  }
  return {std::move(status), std::move(slow_paths)};
}

}  // namespace kopp
