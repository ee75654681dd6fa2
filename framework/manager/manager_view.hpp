#pragma once

#include "cluster/cluster_impl.hpp"
#include "controller/controller_impl.hpp"

#include <functional>
#include <vector>

#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/options.hpp>

namespace kopp {

/// The parts of a manager that checks, debug pages and actions read. `clusters` and `controllers`
/// are thread-safe; `elector` and `may_reconcile` are once the elector has been created.
struct ManagerView {
  const Options& options;
  /// Returns the cluster of the options, and then the further ones.
  std::function<std::vector<Cluster::Impl*>()> clusters;
  std::function<std::vector<Controller::Impl*>()> controllers;
  /// Returns null without leader election, and before the start.
  std::function<const LeaderElector*()> elector;
  /// Returns whether a term as leader has started and, with leader election, this replica still
  /// holds the Lease.
  std::function<bool()> may_reconcile;
};

}  // namespace kopp
