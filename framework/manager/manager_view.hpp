#pragma once

#include "cluster/cluster_impl.hpp"
#include "controller/controller_impl.hpp"

#include <functional>
#include <vector>

#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/options.hpp>

namespace kopp {

/// What the checks, the debug pages and the actions read of a manager. The functions are
/// thread-safe.
struct ManagerView {
  const Options& options;
  /// Returns the cluster of the options, and then the further ones.
  std::function<std::vector<Cluster::Impl*>()> clusters;
  std::function<std::vector<Controller::Impl*>()> controllers;
  /// Returns null without leader election, and before the start.
  std::function<const LeaderElector*()> elector;
  /// Returns whether the program may reconcile now: it is the leader, or there is no election.
  std::function<bool()> may_reconcile;
};

}  // namespace kopp
