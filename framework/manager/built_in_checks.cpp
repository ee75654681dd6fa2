#include "built_in_checks.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/log.hpp>
#include <kopp/serving/liveness.hpp>

namespace kopp {
namespace {

// A leader that does not stop its work after the lease was lost. client-go's health check has the
// same tolerance.
constexpr Duration kLeaseTolerance = std::chrono::seconds(20);

}  // namespace

void AddReadinessChecks(const ManagerView& view, HealthChecks& readiness, std::stop_token stop) {
  readiness.Add("caches", [&view]() -> std::optional<std::string> {
    for (const Cluster::Impl* cluster : view.clusters()) {
      const auto unsynced = cluster->cache().NotSynced();
      if (unsynced.empty()) continue;
      const std::string where =
          cluster->name().empty() ? "" : "cluster \"" + cluster->name() + "\": ";
      return where + "not synced: " + ToString(unsynced);
    }
    return std::nullopt;
  });
  if (const LeaderElector* elector = view.elector())
    readiness.Add("leader-election", [elector] { return elector->CheckReadiness(); });
  readiness.Add("shutdown", [stop = std::move(stop)]() -> std::optional<std::string> {
    if (stop.stop_requested()) return "the program shuts down";
    return std::nullopt;
  });
}

void AddLivenessChecks(const ManagerView& view, HealthChecks& liveness) {
  if (const LeaderElector* elector = view.elector())
    liveness.Add("leader-election", [elector] { return elector->CheckHealth(kLeaseTolerance); });
  const Duration limit = view.options.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  const auto informers = [&view] {
    std::vector<informer::InformerStatus> all;
    for (const Cluster::Impl* cluster : view.clusters()) {
      for (auto& status : cluster->cache().Statuses()) all.push_back(std::move(status));
    }
    return all;
  };
  liveness.Add("informers", SilentInformerCheck(informers, limit));
  liveness.Add("log", BlockedLogCheck([] { return GetLogStatus().blocked_for; }, limit));
}

void AddLivenessChecks(const ManagerView& view, Controller::Impl& controller,
                       HealthChecks& liveness) {
  const Duration limit = view.options.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  const auto longest = [&view, &controller] {
    const auto entries = static_cast<std::size_t>(controller.workers());
    return LongestRunning(controller.queue().TakeSnapshot(entries), view.options.clock.Now());
  };
  liveness.Add("workers-" + controller.name(), StuckWorkerCheck(controller.name(), longest, limit));
  const auto progress = [&view, &controller] {
    const auto snapshot = controller.queue().TakeSnapshot(0);
    const std::size_t unfinished = snapshot.ready_count + snapshot.processing_count;
    return QueueProgress{.unfinished = view.may_reconcile() ? unfinished : 0,
                         .completed = controller.CompletedReconciles()};
  };
  liveness.Add("queue-" + controller.name(),
               StalledQueueCheck(controller.name(), progress, limit, view.options.clock));
}

}  // namespace kopp
