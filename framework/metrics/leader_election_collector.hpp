#pragma once

#include <map>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The metrics `leader_election_…` of client-go, with the label `name`: the name of the Lease.
/// Thread-safe.
class LeaderElectionCollector final : public prometheus::Collectable {
 public:
  void SetMasterStatus(const std::string& name, bool is_leader);
  void AddSlowPath(const std::string& name);

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Election {
    bool is_leader = false;
    double slow_paths = 0;
  };

  mutable detail::Guarded<std::map<std::string, Election>> elections_;  // by name
};

}  // namespace kopp
