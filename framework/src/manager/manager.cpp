#include "manager/endpoints.hpp"
#include "manager/runnable_threads.hpp"
#include "manager/shutdown.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {
namespace {

/// Returns the workers of a controller that does not set ControllerOptions::workers.
int DefaultWorkers(const Options& options, const Kind& kind) {
  std::string name(kind.kind);  // as GroupKind.String() of Go: "Foo.samplecontroller.k8s.io"
  if (!kind.group().empty()) name.append(1, '.').append(kind.group());
  const auto found = options.kind_concurrency.find(name);
  return found == options.kind_concurrency.end() ? options.max_concurrent_reconciles
                                                 : found->second;
}

}  // namespace

Manager::Manager(Options options)
    : options_(std::move(options)),
      metrics_(std::make_unique<Metrics>()),
      cluster_(std::make_unique<Cluster>("", options_, CollectedMetrics())),
      endpoints_(std::make_unique<Endpoints>(options_)) {
  for (auto& group : groups_) {
    group = std::make_unique<RunnableThreads>(
        [this](const std::string& name, const std::string& error) {
          Fail("The runnable \"" + name + "\" failed, stopping", error);
        });
  }
}

Manager::~Manager() {  // handlers add keys to the queues of the controllers
  for (const auto& group : groups_) group->RequestStop();
  further_clusters_.clear();
  cluster_->Stop();
}

Controller& Manager::NewController(ControllerOptions options, const Kind& kind) {
  if (run_called_) throw std::logic_error("AddController must be called before Run");
  if (options.name.empty()) {
    for (const char c : kind.kind) {
      options.name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  const auto has_name = [&](const auto& other) { return other->name() == options.name; };
  if (std::ranges::any_of(controllers_, has_name)) {
    throw std::logic_error("there are two controllers with the name \"" + options.name +
                           "\": set ControllerOptions::name");
  }
  if (!options.workers) options.workers = DefaultWorkers(options_, kind);
  if (!options.resync) options.resync = options_.sync_period;
  controllers_.push_back(std::make_unique<Controller>(std::move(options), kind, cluster_->cache(),
                                                      options_.clock, CollectedMetrics()));
  return *controllers_.back();
}

void Manager::Add(RunnableOptions options, Runnable runnable) {
  const std::lock_guard guard{mutex_};
  if (phase_ == Phase::kStopping) {
    throw std::logic_error("the runnable \"" + options.name + "\" was added during the shutdown");
  }
  Group(options.group).Add(std::move(options.name), std::move(runnable));
}

RunnableThreads& Manager::Group(RunnableGroup group) {
  return *groups_.at(static_cast<std::size_t>(group));
}

Options Manager::OptionsOf(ClusterOptions cluster) const {
  Options options = options_;
  options.kubeconfig = std::move(cluster.kubeconfig);
  options.context = std::move(cluster.context);
  options.master = std::move(cluster.master);
  options.watch_namespace = std::move(cluster.watch_namespace);
  options.cache = std::move(cluster.cache);
  options.transport = std::move(cluster.transport);
  return options;
}

Cluster& Manager::AddCluster(const std::string& name, ClusterOptions options) {
  if (name.empty()) throw std::invalid_argument("AddCluster needs the name of the cluster");
  auto cluster = std::make_unique<Cluster>(name, OptionsOf(std::move(options)), CollectedMetrics());
  const std::lock_guard guard{mutex_};
  if (phase_ == Phase::kStopping) {
    throw std::logic_error("the cluster \"" + name + "\" was added during the shutdown");
  }
  const auto has_name = [&](const auto& other) { return other->name() == name; };
  if (std::ranges::any_of(further_clusters_, has_name)) {
    throw std::logic_error("there are two clusters with the name \"" + name + "\"");
  }
  if (phase_ == Phase::kCachesStarted) {
    cluster->RequireUsable();
    cluster->cache().Start();
  }
  further_clusters_.push_back(std::move(cluster));
  return *further_clusters_.back();
}

std::vector<Cluster*> Manager::Clusters() const {
  const std::lock_guard guard{mutex_};
  std::vector<Cluster*> all{cluster_.get()};
  for (const auto& cluster : further_clusters_) all.push_back(cluster.get());
  return all;
}

Metrics* Manager::CollectedMetrics() const {
  return options_.metrics_bind_address == "0" ? nullptr : metrics_.get();
}

void Manager::AddHealthzCheck(std::string name, HealthCheck check) {
  endpoints_->liveness().Add(std::move(name), std::move(check));
}

void Manager::AddReadyzCheck(std::string name, HealthCheck check) {
  endpoints_->readiness().Add(std::move(name), std::move(check));
}

void Manager::AddMetricsServerExtraHandler(std::string path, HttpServer::Route route) {
  if (run_called_) throw std::logic_error("AddMetricsServerExtraHandler was called after Run");
  endpoints_->AddMetricsRoute(std::move(path), std::move(route));
}

void Manager::AddBuiltInChecks() {
  AddReadyzCheck("caches", [this]() -> std::optional<std::string> {
    for (const Cluster* cluster : Clusters()) {
      const auto unsynced = cluster->cache().NotSynced();
      if (!unsynced.empty()) return "not synced: " + ToString(unsynced);
    }
    return std::nullopt;
  });
  AddReadyzCheck("shutdown", [stop = stop_.get_token()]() -> std::optional<std::string> {
    if (stop.stop_requested()) return "the program shuts down";
    return std::nullopt;
  });
}

void Manager::Fail(std::string_view message, const std::string& error) {
  failed_ = true;
  options_.log.Error(message, {{"err", error}});
  stop_.request_stop();
}

int Manager::Run(const std::stop_token& stop) {
  if (run_called_.exchange(true)) throw std::logic_error("Manager::Run was called twice");
  for (const auto& controller : controllers_) controller->RequireReconciler();
  if (options_.action == Options::Action::kCheck) return Check(stop);
  if (options_.action == Options::Action::kPrintRbac) return PrintRoles(), 0;
  const std::stop_callback forward(stop, [this] { stop_.request_stop(); });
  try {
    if (Start(stop_.get_token())) {
      SleepUntil(options_.clock, TimePoint::max(), stop_.get_token());
      options_.log.Info("Shutdown signal received, waiting for all workers to finish");
    }
  } catch (const std::exception& error) {
    if (!stop_.stop_requested() || failed_) Fail("Cannot start", error.what());
  }
  StopAll();
  return failed_ ? 1 : 0;
}

/// Returns whether everything has started. Throws if something cannot start.
bool Manager::Start(const std::stop_token& stop) {
  AddBuiltInChecks();
  endpoints_->Start(*metrics_, client());
  Group(RunnableGroup::kServers).Start();
  for (Cluster* cluster : Clusters()) cluster->RequireUsable();
  for (Cluster* cluster : Clusters()) cluster->RequireKinds(stop);
  events_ = std::make_unique<EventRecorder>(client(), options_.name, options_.log, options_.clock);
  StartCaches();
  if (!WaitForCaches(stop)) return false;
  Group(RunnableGroup::kOthers).Start();
  StartLeading();
  return true;
}

void Manager::StartCaches() {
  {
    const std::lock_guard guard{mutex_};
    phase_ = Phase::kCachesStarted;
    cluster_->cache().Start();
    for (const auto& cluster : further_clusters_) cluster->cache().Start();
  }
  Group(RunnableGroup::kCaches).Start();
}

/// Returns whether all caches have synced. Fails otherwise.
bool Manager::WaitForCaches(const std::stop_token& stop) {
  options_.log.Info("Waiting for informer caches to sync");
  for (const Cluster* cluster : Clusters()) {
    if (cluster->cache().WaitForSync(stop)) continue;
    Fail(stop.stop_requested() ? "Stopped before the caches had synced"
                               : "Cannot start: the caches have not synced in time",
         ToString(cluster->cache().NotSynced()));
    return false;
  }
  return true;
}

void Manager::StartLeading() {
  is_leading_ = true;
  for (const auto& controller : controllers_) {
    controller->Start(client(), *events_, options_.log);
  }
  Group(RunnableGroup::kLeaderElected).Start();
}

void Manager::StopAll() {
  {
    const std::lock_guard guard{mutex_};
    phase_ = Phase::kStopping;
  }
  Shutdown shutdown(options_.graceful_shutdown_timeout, options_.clock, options_.log, [this] {
    for (Cluster* cluster : Clusters()) cluster->CancelCalls();
  });
  StopControllers(shutdown);
  StopCaches(shutdown);
  if (events_) events_->Stop();
  StopGroup(RunnableGroup::kServers, shutdown);
  endpoints_->Stop();
}

void Manager::StopControllers(Shutdown& shutdown) {
  for (const auto& controller : controllers_) controller->RequestStop();
  Group(RunnableGroup::kLeaderElected).RequestStop();
  Group(RunnableGroup::kOthers).RequestStop();
  shutdown.Await([this](TimePoint deadline) {
    std::vector<std::string> running;
    for (const auto& controller : controllers_) {
      if (controller->WaitForWorkers(deadline, options_.log)) continue;
      running.push_back("controller \"" + controller->name() + "\"");
    }
    return running;
  });
  StopGroup(RunnableGroup::kLeaderElected, shutdown);
  StopGroup(RunnableGroup::kOthers, shutdown);
  if (std::exchange(is_leading_, false)) options_.log.Info("All workers finished");
}

void Manager::StopCaches(Shutdown& shutdown) {
  for (Cluster* cluster : Clusters()) cluster->cache().Stop();
  shutdown.Await([this](TimePoint deadline) {
    std::vector<std::string> running;
    for (const Cluster* cluster : Clusters()) {
      for (const std::string& handler : cluster->cache().WaitForHandlers(deadline)) {
        running.push_back("handler " + handler);
      }
    }
    return running;
  });
  StopGroup(RunnableGroup::kCaches, shutdown);
}

void Manager::StopGroup(RunnableGroup group, Shutdown& shutdown) {
  Group(group).RequestStop();
  shutdown.Await([&](TimePoint deadline) {
    auto running = Group(group).WaitUntilEnded(options_.clock, deadline);
    for (std::string& name : running) name = "runnable \"" + name + "\"";
    return running;
  });
}

}  // namespace kopp
