#include "endpoints.hpp"
#include "recording/recorder.hpp"
#include "runnable_threads.hpp"
#include "shutdown.hpp"
#include "skipped_object_events.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/serving/debug.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {
namespace {

/// Returns null without Options::record. Otherwise changes the tracer: it records reconciles.
std::shared_ptr<Recorder> NewRecorder(Options& options) {
  if (options.record.empty()) return nullptr;
  auto recorder = std::make_shared<Recorder>(options.record, options.log, options.clock);
  options.tracer = WithRecordedReconciles(options.tracer, recorder);
  return recorder;
}

/// Makes the cluster record its streams, unless `recorder` is null.
void RecordStreams(ClusterSettings& settings, const std::shared_ptr<Recorder>& recorder) {
  if (!recorder) return;
  settings.wrap_transport = [recorder, wrap = settings.wrap_transport](auto transport) {
    if (wrap) transport = wrap(std::move(transport));
    return WithRecordedStreams(std::move(transport), recorder);
  };
}

ClusterOptions ClusterOptionsOf(const Options& options) {
  return {.kubeconfig = options.kubeconfig,
          .context = options.context,
          .master = options.master,
          .watch_namespace = options.watch_namespace,
          .cache = options.cache,
          .transport = options.transport};
}

/// Returns the settings of a cluster with the given options, and the others of the manager.
/// `metrics` may be null, and must outlive the cluster.
ClusterSettings ClusterSettingsOf(const Options& options, std::string name, ClusterOptions cluster,
                                  Metrics* metrics) {
  ClusterSettings settings{
      .name = std::move(name),
      .options = std::move(cluster),
      .program = options.name,
      .version = options.version,
      .http_transport = options.http_transport,
      .retry = options.retry,
      .rate_limit = {.qps = options.kube_api_qps, .burst = options.kube_api_burst},
      .wrap_transport = options.wrap_transport,
      .field_validation = options.field_validation,
      .configure_client = options.configure_client,
      .tracer = options.tracer,
      .log = options.log,
      .clock = options.clock};
  settings.options.cache.metrics = metrics;
  if (options.on_request) settings.observers.push_back(options.on_request);
  if (metrics != nullptr) {
    settings.observers.emplace_back(
        [metrics](const RequestEvent& event) { metrics->ObserveRequest(event); });
    settings.on_rate_limit = [metrics](std::string_view method, std::string_view host,
                                       Duration wait) {
      metrics->ObserveRateLimiter(method, host, wait);
    };
  }
  return settings;
}

}  // namespace

Manager::Manager(Options options)
    : options_(std::move(options)),
      metrics_(std::make_unique<Metrics>()),
      recorder_(NewRecorder(options_)),
      cluster_(std::make_unique<Cluster>(MainCluster())),
      leader_transport_(cluster_->transport()),
      endpoints_(std::make_unique<Endpoints>(options_)) {
  if (options_.leader_election.enabled) {
    fence_ = std::make_unique<WriteFence>(options_.clock);
    leader_transport_ = std::make_shared<FencedTransport>(cluster_->transport(), *fence_);
  }
  if (recorder_) leader_transport_ = WithRecordedCalls(leader_transport_, recorder_);
  leader_client_ = cluster_->NewClient(*leader_transport_);
  if (options_.debug.bind_address != "0") history_ = std::make_unique<ReconcileHistory>();
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

void Manager::RequireNotStopping(const std::string& type, const std::string& name) const {
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::kStopping) return;
  throw std::logic_error("the " + type + " \"" + name + "\" was added during the shutdown");
}

void Manager::Add(RunnableOptions options, Runnable runnable) {
  RequireNotStopping("runnable", options.name);
  // If the shutdown begins now, the group stops the runnable, or does not start it.
  Group(options.group).Add(std::move(options.name), std::move(runnable));
}

RunnableThreads& Manager::Group(RunnableGroup group) {
  return *groups_.at(static_cast<std::size_t>(group));
}

ClusterSettings Manager::MainCluster() {
  ClusterSettings settings =
      ClusterSettingsOf(options_, "", ClusterOptionsOf(options_), CollectedMetrics());
  ReportSkippedObjects(settings.options.cache);
  RecordStreams(settings, recorder_);
  return settings;
}

Cluster& Manager::AddCluster(const std::string& name, ClusterOptions options) {
  if (name.empty()) throw std::invalid_argument("AddCluster needs the name of the cluster");
  RequireNotStopping("cluster", name);
  auto added = std::make_unique<Cluster>(
      ClusterSettingsOf(options_, name, std::move(options), CollectedMetrics()));
  Cluster& cluster = *added;
  bool start = false;  // else StartCaches does
  {
    const std::lock_guard guard{mutex_};
    const auto has_name = [&](const auto& other) { return other->name() == name; };
    if (std::ranges::any_of(further_clusters_, has_name)) {
      throw std::logic_error("there are two clusters with the name \"" + name + "\"");
    }
    if (phase_ != Phase::kNew) cluster.RequireUsable();
    start = phase_ == Phase::kCachesStarted;
    further_clusters_.push_back(std::move(added));
  }
  if (start) cluster.cache().Start();
  return cluster;
}

std::vector<Cluster*> Manager::Clusters() const {
  const std::lock_guard guard{mutex_};
  std::vector<Cluster*> all{cluster_.get()};
  for (const auto& cluster : further_clusters_) all.push_back(cluster.get());
  return all;
}

Metrics* Manager::CollectedMetrics() const {
  return options_.metrics.bind_address == "0" ? nullptr : metrics_.get();
}

void Manager::Fail(std::string_view message, const std::string& error) {
  failed_ = true;
  options_.log.Error(message, {{"err", error}});
  stop_.request_stop();
}

int Manager::Run(const std::stop_token& stop) {
  if (run_called_.exchange(true)) throw std::logic_error("Manager::Run was called twice");
  SetPhase(Phase::kStarting);
  for (const auto& controller : controllers_) controller->RequireReconciler();
  if (options_.action == Options::Action::kCheck) return Check(stop);
  if (options_.action == Options::Action::kPrintRbac) return PrintRoles();
  if (options_.action == Options::Action::kPrintCrd) return PrintCrds();
  const std::stop_callback forward(stop, [this] { stop_.request_stop(); });
  try {
    if (Start(stop_.get_token())) Lead(stop_.get_token());
  } catch (const std::exception& error) {
    if (!stop_.stop_requested() || failed_) Fail("Cannot start", error.what());
  }
  StopAll();
  return failed_ ? 1 : 0;
}

/// Returns whether everything has started. Throws if something cannot start.
bool Manager::Start(const std::stop_token& stop) {
  if (recorder_) recorder_->Open(options_.name);
  for (Cluster* cluster : Clusters()) cluster->RequireUsable();
  events_ = std::make_unique<EventRecorder>(client(), options_.name, options_.log, options_.clock,
                                            options_.events);
  direct_transport_ = cluster_->TransportWithoutRetries();
  if (options_.leader_election.enabled) CreateElector();
  AddBuiltInChecks();
  endpoints_->Start(*metrics_, Client(*direct_transport_, options_.name));
  endpoints_->StartDebugPages(NewDebugSource());
  Group(RunnableGroup::kServers).Start();
  if (options_.install_crds) InstallCrds(std::chrono::seconds(30), stop);
  for (Cluster* cluster : Clusters()) cluster->RequireKinds(stop);
  StartCaches();
  if (!WaitForCaches(stop)) return false;
  Group(RunnableGroup::kOthers).Start();
  return true;
}

void Manager::StartCaches() {
  std::vector<Cluster*> clusters{cluster_.get()};
  {
    const std::lock_guard guard{mutex_};
    phase_ = Phase::kCachesStarted;  // from now on, AddCluster starts the caches
    for (const auto& cluster : further_clusters_) clusters.push_back(cluster.get());
  }
  for (Cluster* cluster : clusters) cluster->cache().Start();
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

void Manager::CreateElector() {
  LeaderElectionOptions election = options_.leader_election;
  if (election.id.empty()) election.id = options_.name;
  const Client client(*direct_transport_, options_.name);
  const auto half_time_left = [this] {
    return shutdown_ ? shutdown_->TimeLeft() / 2 : Duration::max();
  };
  elector_ = std::make_unique<LeaderElector>(client, *fence_,
                                             LeaderElectorOptions{.election = std::move(election),
                                                                  .events = events_.get(),
                                                                  .metrics = CollectedMetrics(),
                                                                  .release_timeout = half_time_left,
                                                                  .log = options_.log,
                                                                  .clock = options_.clock});
}

/// Runs the controllers until a stop is requested or the leadership is lost for good.
void Manager::Lead(const std::stop_token& stop) {
  if (!elector_) return LeadUntil(stop);
  const auto lead = [this](const std::stop_token& end) { LeadUntil(end); };
  while (!stop.stop_requested()) {
    if (elector_->Run(lead, stop) == LeaderElector::Outcome::kStopped) return;
    if (options_.leader_election.on_lost == LeaderElectionOptions::OnLost::kExit) {
      return Fail("Stopping", "leader election lost");
    }
    options_.log.Info("Leader election lost, campaigning again");
  }
}

/// Runs the controllers and kLeaderElected until `stop`. They have ended when it returns or throws.
void Manager::LeadUntil(const std::stop_token& stop) {
  term_calls_ = std::stop_source();
  term_client_.emplace(leader_client_->With(term_calls_.get_token()));
  elected_.request_stop();
  try {
    for (const auto& controller : controllers_) {
      controller->Start(*term_client_, *events_, options_.log);
    }
    Group(RunnableGroup::kLeaderElected).Start();
  } catch (...) {
    StopControllers(BeginShutdown(options_.graceful_shutdown_timeout));
    throw;
  }
  skipped_->Start(*events_);
  SleepUntil(options_.clock, TimePoint::max(), stop);
  skipped_->Stop();
  EndTerm();
}

void Manager::EndTerm() {
  const bool lost = !stop_.stop_requested();
  options_.log.Info(lost ? "Leader election lost, waiting for all workers to finish"
                         : "Shutdown signal received, waiting for all workers to finish");
  if (lost && options_.leader_election.on_lost == LeaderElectionOptions::OnLost::kCampaign) {
    Shutdown end_of_term(options_.graceful_shutdown_timeout, options_.clock, options_.log,
                         [this] { term_calls_.request_stop(); });
    StopControllers(end_of_term);
  } else {
    SetPhase(Phase::kStopping);
    StopControllers(BeginShutdown(lost ? Duration::zero() : options_.graceful_shutdown_timeout));
  }
  options_.log.Info("All workers finished");
}

/// The first call decides about the time limit.
Shutdown& Manager::BeginShutdown(Duration timeout) {
  if (!shutdown_) {
    shutdown_ = std::make_unique<Shutdown>(timeout, options_.clock, options_.log, [this] {
      term_calls_.request_stop();
      for (Cluster* cluster : Clusters()) cluster->CancelCalls();
    });
  }
  return *shutdown_;
}

void Manager::SetPhase(Phase phase) {
  const std::lock_guard guard{mutex_};
  phase_ = phase;
}

void Manager::StopAll() {
  SetPhase(Phase::kStopping);
  Shutdown& shutdown = BeginShutdown(options_.graceful_shutdown_timeout);
  StopGroup(RunnableGroup::kOthers, shutdown);
  StopCaches(shutdown);
  if (events_) {
    const Duration limit = std::min(EventRecorder::kMaxStopTimeout, shutdown.TimeLeft() / 2);
    shutdown.Await("queued Events", [&] { events_->Stop(limit); });
  }
  StopGroup(RunnableGroup::kServers, shutdown);
  shutdown.Await("health checks or handlers of the metrics server", [this] { endpoints_->Stop(); });
  shutdown_.reset();
}

void Manager::StopControllers(Shutdown& shutdown) {
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
