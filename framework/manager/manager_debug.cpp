#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <kopp/controller/controller_queue.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/manager.hpp>
#include <kopp/serving/debug.hpp>

// What the debug pages show. Their functions run on threads of the HTTP server, while the manager
// runs.

namespace kopp {
namespace {

/// Returns the name of an informer on the debug pages. Informers of two clusters have equal names.
std::string DebugName(const Cluster& cluster, const std::string& informer) {
  return cluster.name().empty() ? informer : cluster.name() + ": " + informer;
}

}  // namespace

/// Liveness checks, debug pages and spans have the times of queues; pages and spans the reasons.
void Manager::TrackQueue(ControllerOptions& options) const {
  const bool debugs = options_.debug.bind_address != "0" || options_.tracer;
  if (debugs) options.reasons = true;
  if (debugs || options_.health.bind_address != "0") options.track_times = true;
}

void Manager::RecordReconciles(Controller& controller) const {
  controller.SetTracer(options_.tracer.get());
  if (!history_) return;
  controller.AddObserver([this](const ReconcileEvent& event) {
    history_->Add({.controller = std::string(event.controller),
                   .key = event.key,
                   .id = std::string(event.reconcile_id),
                   .reason = event.reasons.ToString(),
                   .started = options_.clock.WallNow() - event.duration,
                   .queued = event.queue_wait.value_or(Duration{}),
                   .duration = event.duration,
                   .result = std::string(ToString(event.result)),
                   .error = std::string(event.error)});
  });
}

DebugSource Manager::NewDebugSource() const {
  DebugSource source{.program = [this] { return DescribeProgram(); },
                     .queues = [this] { return DescribeQueues(); },
                     .caches = [this] { return DescribeCaches(); },
                     .objects = [this](const informer::InformerStatus& cache,
                                       std::size_t limit) { return DescribeObjects(cache, limit); },
                     .leadership = [this] { return DescribeLeadership(); }};
  if (history_) source.reconciles = [this] { return history_->Records(); };
  if (!options_.debug.flag_values.empty())
    source.flags = [this] { return options_.debug.flag_values; };
  return source;
}

std::vector<std::pair<std::string, std::string>> Manager::DescribeProgram() const {
  const LogStatus log = GetLogStatus();
  std::vector<std::pair<std::string, std::string>> values{
      {"Name", options_.name},
      {"Version", options_.version.empty() ? "unknown" : options_.version},
      {"Process", std::to_string(::getpid())},
      {"API server", cluster_->description()},
      {"Namespaces", options_.watch_namespace.empty() ? "all" : options_.watch_namespace},
      {"Dropped log lines", std::to_string(log.dropped_lines)}};
  const std::lock_guard guard{mutex_};
  for (const auto& cluster : further_clusters_) {
    values.emplace_back("API server of " + cluster->name(), cluster->description());
  }
  return values;
}

std::vector<DebugQueue> Manager::DescribeQueues() const {
  std::vector<DebugQueue> queues;
  for (Controller* controller : Controllers()) {
    queues.push_back({.controller = controller->name(),
                      .workers = controller->workers(),
                      .snapshot = controller->queue().TakeSnapshot().WithPayloads(
                          [](const QueuedReasons& queued) { return queued.reasons.ToString(); })});
  }
  return queues;
}

std::vector<informer::InformerStatus> Manager::DescribeCaches() const {
  std::vector<informer::InformerStatus> caches;
  for (const Cluster* cluster : Clusters()) {
    for (informer::InformerStatus& status : cluster->cache().Statuses()) {
      status.name = DebugName(*cluster, status.name);
      caches.push_back(std::move(status));
    }
  }
  return caches;
}

/// The metadata only: the cache does not know the types of its objects.
std::vector<std::string> Manager::DescribeObjects(const informer::InformerStatus& cache,
                                                  std::size_t limit) const {
  std::vector<std::string> objects;
  for (const Cluster* cluster : Clusters()) {
    const std::string prefix = DebugName(*cluster, "");
    if (!cache.name.starts_with(prefix)) continue;
    const auto name = std::string_view(cache.name).substr(prefix.size());
    for (const ObjectMeta& metadata : cluster->cache().MetadataOf(name, limit)) {
      objects.push_back(R"({"metadata":)" + Encode(metadata) + '}');
    }
    if (!objects.empty()) break;
  }
  return objects;
}

DebugLeadership Manager::DescribeLeadership() const {
  if (!elector_) return {};
  LeadershipStatus status = elector_->Status();
  return {.enabled = true,
          .is_leader = status.is_leader,
          .identity = std::move(status.identity),
          .holder = std::move(status.holder),
          .lease = std::move(status.lease),
          .since_renewal = status.renewed_before};
}

}  // namespace kopp
