// The start, the terms as leader, and the stop of a Manager.
#include "built_in_checks.hpp"
#include "cache/cache_impl.hpp"
#include "debug_source.hpp"
#include "manager_impl.hpp"
#include "unwatched_reads.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

void Manager::Impl::Fail(std::string_view message, const std::string& error) {
  failed_ = true;
  options_.log.Error(message, {{"err", error}});
  stop_.request_stop();
}

int Manager::Impl::Run(const std::stop_token& stop) {
  if (run_called_.exchange(true)) throw std::logic_error("Manager::Run was called twice");
  SetPhase(Phase::kStarting);
  for (const auto& controller : controllers_) controller->RequireReconciler();
  if (options_.action == Options::Action::kCheck) return Check(stop);
  if (options_.action == Options::Action::kPrintRbac) return PrintRoles();
  if (options_.action == Options::Action::kPrintCrd) return crds_.Print(options_.log);
  if (options_.action == Options::Action::kPrintWebhooks) return webhooks_.Print();
  if (options_.action == Options::Action::kUninstallWebhooks) return UninstallWebhooks(stop);
  const std::stop_callback forward(stop, [this] { stop_.request_stop(); });
  try {
    if (Start(stop_.get_token())) {
      const std::stop_callback announce(stop_.get_token(),
                                        [this] { webhooks_.AnnounceShutdown(); });
      Lead(stop_.get_token());
    }
  } catch (const std::exception& error) {
    if (!stop_.stop_requested() || failed_) Fail("Cannot start", error.what());
  }
  StopAll();
  return failed_ ? 1 : 0;
}

/// Returns whether everything has started. Throws if something cannot start.
bool Manager::Impl::Start(const std::stop_token& stop) {
  if (const auto problem = UnwatchedReads(view_)) throw ConfigError(*problem);
  if (recorder_) recorder_->Open(options_.name);
  for (Cluster::Impl* cluster : Clusters()) cluster->RequireUsable();
  PostponeControllers();
  CreateEventRecorder();
  direct_transport_ = cluster_->TransportWithoutRetries({});
  if (options_.leader_election.enabled) CreateElector();
  AddReadinessChecks(view_, endpoints_->readiness(), stop_.get_token());
  AddLivenessChecks(view_, endpoints_->liveness());
  for (const auto& controller : controllers_)
    AddLivenessChecks(view_, *controller, endpoints_->liveness());
  webhooks_.Start(endpoints_->readiness(), view_.may_reconcile);  // before readiness is served
  endpoints_->Start(*metrics_, Client(*direct_transport_, options_.name));
  endpoints_->StartDebugPages(MakeDebugSource(view_, history_.get(), webhooks()));
  Group(RunnableGroup::kServers).Start();
  if (options_.install_crds) InstallCrds(std::chrono::seconds(30), stop);
  CheckKinds(stop);
  StartCaches();
  if (!WaitForCaches(stop)) return false;
  Group(RunnableGroup::kOthers).Start();
  return true;
}

/// Makes the controllers that watch a cluster that is not required start as those that are added
/// later: the others do not wait for it.
void Manager::Impl::PostponeControllers() {
  const std::vector<Cluster::Impl*> clusters = Clusters();
  const auto may_start = [&](const std::unique_ptr<Controller::Impl>& controller) {
    return std::ranges::none_of(clusters, [&](const Cluster::Impl* cluster) {
      // Nothing has synced before the start.
      const auto& cache = Cache::Impl::Of(cluster->cache());
      return !cluster->required() && !cache.NotSynced(controller->informers()).empty();
    });
  };
  std::vector<Controller::Impl*> postponed;
  {
    const std::lock_guard guard{mutex_};
    const auto moved = std::ranges::stable_partition(controllers_, may_start);
    for (auto& controller : moved) {
      postponed.push_back(controller.get());
      later_controllers_.push_back(std::move(controller));
    }
    controllers_.erase(moved.begin(), moved.end());
  }
  for (Controller::Impl* controller : postponed) StartLater(*controller);
}

/// Throws as Cluster::Impl::RequireKinds for the required clusters. AwaitOptionalCluster checks the
/// others.
void Manager::Impl::CheckKinds(const std::stop_token& stop) {
  for (const Cluster::Impl* cluster : Clusters()) {
    if (cluster->required()) cluster->RequireKinds(stop);
  }
}

/// Checks the kinds of a cluster that is not required. When its caches have synced, retries the
/// keys whose last reconcile threw, because it may have read these caches. Throws ConfigError if
/// the cluster does not serve a watched kind.
void Manager::Impl::AwaitOptionalCluster(const Cluster::Impl& cluster,
                                         const std::stop_token& stop) const {
  try {
    cluster.RequireKinds(stop);
  } catch (const ConfigError&) {
    throw;
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return;
    options_.log.Error(
        "Cannot check the kinds of a cluster; its controllers may start without its caches",
        {{"cluster", cluster.name()}, {"err", error.what()}});
  }
  const auto& cache = Cache::Impl::Of(cluster.cache());
  if (!cache.WaitForSync(Duration::zero(), stop)) return;
  for (Controller::Impl* controller : Controllers()) {
    controller->RetryFailing("cluster " + cluster.name());
  }
}

/// The transport of the Events does not retry, because a retry would delay other namespaces.
void Manager::Impl::CreateEventRecorder() {
  events_transport_ = cluster_->TransportWithoutRetries(
      {.qps = options_.kube_api_qps, .burst = options_.kube_api_burst});
  events_ = NewEventRecorder(*events_transport_);
  leadership_.SetEvents(events_transport_,
                        [this](Transport& transport) { return NewEventRecorder(transport); });
}

std::unique_ptr<EventRecorder> Manager::Impl::NewEventRecorder(Transport& transport) {
  EventRecorderOptions options = options_.events;
  if (options.metrics == nullptr) options.metrics = CollectedMetrics();
  return std::make_unique<EventRecorder>(cluster_->NewClient(transport), options_.name,
                                         options_.log, options_.clock, std::move(options));
}

/// Returns the recorder of the reconciles.
EventRecorder& Manager::Impl::TermEvents() const {
  EventRecorder* const events = leadership_.term_events();
  return events != nullptr ? *events : *events_;
}

void Manager::Impl::StartCaches() {
  std::vector<Cluster::Impl*> clusters{cluster_.get()};
  {
    const std::lock_guard guard{mutex_};
    phase_ = Phase::kCachesStarted;  // from now on, AddCluster starts the caches
    for (const auto& cluster : further_clusters_) clusters.push_back(cluster.get());
  }
  for (Cluster::Impl* cluster : clusters) cluster->cache().Start();
  Group(RunnableGroup::kCaches).Start();
}

/// Returns whether the caches of the required clusters have synced. Fails otherwise, unless a stop
/// is requested.
bool Manager::Impl::WaitForCaches(const std::stop_token& stop) {
  options_.log.Info("Waiting for informer caches to sync");
  for (const Cluster::Impl* cluster : Clusters()) {
    if (!cluster->required() || cluster->cache().WaitForSync(stop)) continue;
    const std::string not_synced = ToString(cluster->cache().NotSynced());
    if (stop.stop_requested()) {
      options_.log.Info("Stopped before the caches had synced", {{"notSynced", not_synced}});
    } else {
      Fail("Cannot start: the caches have not synced in time", not_synced);
    }
    return false;
  }
  return true;
}

void Manager::Impl::CreateElector() {
  LeaderElectionOptions election = options_.leader_election;
  if (election.id.empty()) election.id = options_.name;
  const auto half_time_left = [this] {
    return shutdown_ ? shutdown_->TimeLeft() / 2 : Duration::max();
  };
  leadership_.CreateElector(Client(*direct_transport_, options_.name),
                            {.election = std::move(election),
                             .events = events_.get(),
                             .metrics = CollectedMetrics(),
                             .release_timeout = half_time_left,
                             .log = options_.log,
                             .clock = options_.clock});
}

/// Runs the controllers until a stop is requested or the leadership is lost for good.
void Manager::Impl::Lead(const std::stop_token& stop) {
  LeaderElector* const elector = leadership_.elector();
  if (elector == nullptr) return LeadUntil(stop);
  const auto lead = [this](const std::stop_token& end) { LeadUntil(end); };
  while (!stop.stop_requested()) {
    if (elector->Run(lead, stop) == LeaderElector::Outcome::kStopped) return;
    if (options_.leader_election.on_lost == LeaderElectionOptions::OnLost::kExit) {
      return Fail("Stopping", "leader election lost");
    }
    options_.log.Info("Leader election lost, campaigning again");
  }
}

/// Runs the controllers and kLeaderElected until `stop`. They have ended when it returns or throws.
void Manager::Impl::LeadUntil(const std::stop_token& stop) {
  leadership_.StartTerm();
  webhooks_.OnElected();
  skipped_->Start(TermEvents());
  write_loops_.Start(TermEvents());
  try {
    for (const auto& controller : controllers_) StartWorkers(*controller);
    Group(RunnableGroup::kLeaderElected).Start();
  } catch (...) {
    StopReporters();
    StopControllers(BeginShutdown(options_.graceful_shutdown_timeout));
    throw;
  }
  SleepUntil(options_.clock, TimePoint::max(), stop);
  StopReporters();
  EndTerm();
}

/// Ends the Events that do not come from reconciles.
void Manager::Impl::StopReporters() {
  skipped_->Stop();
  write_loops_.Stop();
}

void Manager::Impl::EndTerm() {
  const bool lost = !stop_.stop_requested();
  options_.log.Info(lost ? "Leader election lost, waiting for all workers to finish"
                         : "Shutdown signal received, waiting for all workers to finish");
  if (lost && options_.leader_election.on_lost == LeaderElectionOptions::OnLost::kCampaign) {
    Shutdown end_of_term(options_.graceful_shutdown_timeout, options_.clock, options_.log,
                         [this] { leadership_.CancelCalls(); });
    StopControllers(end_of_term);
  } else {
    SetPhase(Phase::kStopping);
    StopControllers(BeginShutdown(lost ? Duration::zero() : options_.graceful_shutdown_timeout));
  }
  options_.log.Info("All workers finished");
}

/// The first call decides about the time limit.
Shutdown& Manager::Impl::BeginShutdown(Duration timeout) {
  if (!shutdown_) {
    shutdown_ = std::make_unique<Shutdown>(timeout, options_.clock, options_.log, [this] {
      leadership_.CancelCalls();
      for (Cluster::Impl* cluster : Clusters()) cluster->CancelCalls();
    });
  }
  return *shutdown_;
}

void Manager::Impl::SetPhase(Phase phase) {
  const std::lock_guard guard{mutex_};
  phase_ = phase;
}

void Manager::Impl::StopAll() {
  SetPhase(Phase::kStopping);
  Shutdown& shutdown = BeginShutdown(options_.graceful_shutdown_timeout);
  StopGroup(RunnableGroup::kOthers, shutdown);
  webhooks_.Stop(shutdown);  // their functions may read the caches
  StopCaches(shutdown);
  if (events_) StopEvents(*events_, shutdown);
  StopGroup(RunnableGroup::kServers, shutdown);
  shutdown.Await("health checks or handlers of the metrics server", [this] { endpoints_->Stop(); });
  shutdown_.reset();
}

void Manager::Impl::StopEvents(EventRecorder& events, Shutdown& shutdown) {
  const Duration limit = std::min(EventRecorder::kMaxStopTimeout, shutdown.TimeLeft() / 2);
  shutdown.Await("queued Events", [&] { events.Stop(limit); });
}

void Manager::Impl::StopControllers(Shutdown& shutdown) {
  for (const auto& controller : controllers_) controller->RequestStop();
  Group(RunnableGroup::kLeaderElected).RequestStop();
  shutdown.Await([this](TimePoint deadline) {
    std::vector<std::string> running;
    for (const auto& controller : controllers_) {
      if (controller->WaitForWorkers(deadline, options_.log)) continue;
      running.push_back("controller \"" + controller->name() + "\"");
    }
    return running;
  });
  StopGroup(RunnableGroup::kLeaderElected, shutdown);
  EventRecorder* const events = leadership_.term_events();
  if (events != nullptr) StopEvents(*events, shutdown);  // before the lease is released
}

void Manager::Impl::StopCaches(Shutdown& shutdown) {
  Group(RunnableGroup::kCaches).RequestStop();
  for (Cluster::Impl* cluster : Clusters()) cluster->cache().Stop();
  shutdown.Await([this](TimePoint deadline) {
    std::vector<std::string> running;
    for (const Cluster::Impl* cluster : Clusters()) {
      for (const std::string& handler :
           Cache::Impl::Of(cluster->cache()).WaitForHandlers(deadline)) {
        running.push_back("handler " + handler);
      }
    }
    return running;
  });
  StopGroup(RunnableGroup::kCaches, shutdown);
}

void Manager::Impl::StopGroup(RunnableGroup group, Shutdown& shutdown) {
  Group(group).RequestStop();
  shutdown.Await([&](TimePoint deadline) {
    auto running = Group(group).WaitUntilEnded(options_.clock, deadline);
    for (std::string& name : running) name = "runnable \"" + name + "\"";
    return running;
  });
}

}  // namespace kopp
