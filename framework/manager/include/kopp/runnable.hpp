#pragma once

#include <functional>
#include <stop_token>
#include <string>

namespace kopp {

/// A task of a program that runs beside its controllers, on a thread of its own. Works until a stop
/// is requested, and then returns soon; a task that has finished may return earlier. If it throws
/// before that, the manager logs the error, stops everything, and Manager::Run returns 1.
/// controller-runtime: manager.Runnable.
using Runnable = std::function<void(std::stop_token stop)>;

/// The groups of runnables, in the order in which they start. They stop in the reverse
/// order, kLeaderElected with the controllers.
enum class RunnableGroup {
  kServers,  ///< starts first, for servers that respond also while the program starts and stops
  kCaches,   ///< starts with the caches, for sources of data that controllers read
  kOthers,   ///< starts when the caches have synced, in each replica
  /// Starts with the controllers: only in the leader if leader election is enabled. Write with
  /// Manager::leader_client().
  kLeaderElected,
};

/// Options of Manager::Add.
struct RunnableOptions {
  std::string name = {};  ///< for the log
  RunnableGroup group = RunnableGroup::kLeaderElected;
};

}  // namespace kopp
