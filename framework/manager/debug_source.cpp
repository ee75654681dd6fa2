#include "debug_source.hpp"

#include "cache/cache_impl.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <kopp/informer/fields.hpp>
#include <kopp/log.hpp>

namespace kopp {
namespace {

/// Returns the name of an informer on the debug pages. Informers of two clusters have equal names.
std::string DebugName(const Cluster::Impl& cluster, const std::string& informer) {
  return cluster.name().empty() ? informer : cluster.name() + ": " + informer;
}

std::vector<std::pair<std::string, std::string>> DescribeProgram(const ManagerView& view) {
  const Options& options = view.options;
  std::vector<std::pair<std::string, std::string>> values{
      {"Name", options.name},
      {"Version", options.version.empty() ? "unknown" : options.version},
      {"Process", std::to_string(::getpid())}};
  for (const Cluster::Impl* cluster : view.clusters()) {
    const std::string of = cluster->name().empty() ? "" : " of " + cluster->name();
    values.emplace_back("API server" + of, cluster->description());
  }
  values.emplace_back("Namespaces",
                      options.watch_namespace.empty() ? "all" : options.watch_namespace);
  values.emplace_back("Dropped log lines", std::to_string(GetLogStatus().dropped_lines));
  return values;
}

std::vector<DebugQueue> DescribeQueues(const ManagerView& view) {
  std::vector<DebugQueue> queues;
  for (Controller::Impl* controller : view.controllers()) {
    queues.push_back({.controller = controller->name(),
                      .workers = controller->workers(),
                      .snapshot = controller->queue().TakeSnapshot().WithPayloads(
                          [](const QueuedReasons& queued) { return queued.reasons.ToString(); })});
  }
  return queues;
}

std::vector<informer::InformerStatus> DescribeCaches(const ManagerView& view) {
  std::vector<informer::InformerStatus> caches;
  for (const Cluster::Impl* cluster : view.clusters()) {
    for (informer::InformerStatus& status : cluster->cache().Statuses()) {
      status.name = DebugName(*cluster, status.name);
      caches.push_back(std::move(status));
    }
  }
  return caches;
}

/// The metadata only: the cache does not know the types of its objects.
std::vector<std::string> DescribeObjects(const ManagerView& view,
                                         const informer::InformerStatus& cache, std::size_t limit) {
  std::vector<std::string> objects;
  for (const Cluster::Impl* cluster : view.clusters()) {
    const std::string prefix = DebugName(*cluster, "");
    if (!cache.name.starts_with(prefix)) continue;
    const auto name = std::string_view(cache.name).substr(prefix.size());
    for (const ObjectMeta& metadata : Cache::Impl::Of(cluster->cache()).MetadataOf(name, limit)) {
      objects.push_back(R"({"metadata":)" + Encode(metadata) + '}');
    }
    if (!objects.empty()) break;
  }
  return objects;
}

DebugLeadership DescribeLeadership(const ManagerView& view) {
  const LeaderElector* const elector = view.elector();
  if (elector == nullptr) return {};
  LeadershipStatus status = elector->Status();
  return {.enabled = true,
          .is_leader = status.is_leader,
          .identity = std::move(status.identity),
          .holder = std::move(status.holder),
          .lease = std::move(status.lease),
          .since_renewal = status.renewed_before};
}

}  // namespace

DebugSource MakeDebugSource(const ManagerView& view, const ReconcileHistory* history,
                            const WebhookRegistry& webhooks) {
  DebugSource source{
      .program = [&view] { return DescribeProgram(view); },
      .queues = [&view] { return DescribeQueues(view); },
      .caches = [&view] { return DescribeCaches(view); },
      .objects = [&view](const informer::InformerStatus& cache,
                         std::size_t limit) { return DescribeObjects(view, cache, limit); },
      .leadership = [&view] { return DescribeLeadership(view); }};
  if (history != nullptr) source.reconciles = [history] { return history->Records(); };
  if (!webhooks.empty()) source.webhooks = [&webhooks] { return webhooks.Describe(); };
  if (!view.options.debug.flag_values.empty())
    source.flags = [&view] { return view.options.debug.flag_values; };
  return source;
}

ReconcileObserver RecordIn(ReconcileHistory& history, Clock& clock) {
  return [&history, &clock](const ReconcileEvent& event) {
    history.Add({.controller = std::string(event.controller),
                 .key = event.key,
                 .id = std::string(event.reconcile_id),
                 .reason = event.reasons.ToString(),
                 .started = clock.WallNow() - event.duration,
                 .queued = event.queue_wait.value_or(Duration{}),
                 .duration = event.duration,
                 .result = std::string(ToString(event.result)),
                 .error = std::string(event.error)});
  };
}

}  // namespace kopp
