#include "endpoints.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include <kopp/controller/controller_queue.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/log.hpp>
#include <kopp/manager.hpp>
#include <kopp/serving/liveness.hpp>

namespace kopp {
namespace {

// A leader that does not stop its work after the lease was lost. client-go's health check has the
// same tolerance.
constexpr Duration kLeaseTolerance = std::chrono::seconds(20);

}  // namespace

void Manager::AddHealthzCheck(std::string name, HealthCheck check) {
  endpoints_->liveness().Add(std::move(name), std::move(check));
}

void Manager::AddReadyzCheck(std::string name, HealthCheck check) {
  endpoints_->readiness().Add(std::move(name), std::move(check));
}

void Manager::AddMetricsServerExtraHandler(const std::string& path,
                                           const HttpServer::Route& route) {
  if (run_called_) throw std::logic_error("AddMetricsServerExtraHandler was called after Run");
  endpoints_->AddMetricsRoute(path, route);
}

void Manager::AddBuiltInChecks() {
  AddReadyzCheck("caches", [this]() -> std::optional<std::string> {
    for (const Cluster* cluster : Clusters()) {
      const auto unsynced = cluster->cache().NotSynced();
      if (!unsynced.empty()) return "not synced: " + ToString(unsynced);
    }
    return std::nullopt;
  });
  AddLivenessChecks();
  AddReadyzCheck("shutdown", [stop = stop_.get_token()]() -> std::optional<std::string> {
    if (stop.stop_requested()) return "the program shuts down";
    return std::nullopt;
  });
}

/// For programs that hang although their process runs.
void Manager::AddLivenessChecks() {
  if (elector_) {
    AddHealthzCheck("leader-election", [this] { return elector_->CheckHealth(kLeaseTolerance); });
  }
  const Duration limit = options_.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  for (const auto& controller : controllers_) AddLivenessChecks(*controller);
  const auto informers = [this] {
    std::vector<informer::InformerStatus> all;
    for (const Cluster* cluster : Clusters()) {
      for (auto& status : cluster->cache().Statuses()) all.push_back(std::move(status));
    }
    return all;
  };
  AddHealthzCheck("informers", SilentInformerCheck(informers, limit));
  AddHealthzCheck("log", BlockedLogCheck([] { return GetLogStatus().blocked_for; }, limit));
}

void Manager::AddLivenessChecks(Controller& controller) {
  const Duration limit = options_.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  const auto longest = [this, &controller] {
    const auto entries = static_cast<std::size_t>(controller.workers());
    return LongestRunning(controller.queue().TakeSnapshot(entries), options_.clock.Now());
  };
  AddHealthzCheck("workers-" + controller.name(),
                  StuckWorkerCheck(controller.name(), longest, limit));
  const auto progress = [this, &controller] {
    const auto snapshot = controller.queue().TakeSnapshot(0);
    const bool works = !elected_.stop_requested() ? false : !elector_ || elector_->IsLeader();
    return QueueProgress{.unfinished = works ? snapshot.ready_count + snapshot.processing_count : 0,
                         .completed = controller.CompletedReconciles()};
  };
  AddHealthzCheck("queue-" + controller.name(),
                  StalledQueueCheck(controller.name(), progress, limit, options_.clock));
}

}  // namespace kopp
