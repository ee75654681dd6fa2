#include "base/option_checks.hpp"
#include "manager/manager_access.hpp"
#include "manager_impl.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include <kopp/manager.hpp>

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
          .transport = options.transport,
          .required = true};
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

/// The flags have the same checks. The other options are checked by those that use them.
Options Checked(Options options) {
  detail::RequireNotNegative("Options::sync_period", options.sync_period);
  detail::RequireNotNegative("HealthOptions::liveness_limit", options.health.liveness_limit);
  return options;
}

}  // namespace

Manager::Impl::Impl(Options options)
    : options_(Checked(std::move(options))),
      metrics_(std::make_unique<Metrics>()),
      write_loops_(options_.log, CollectedMetrics()),
      recorder_(NewRecorder(options_)),
      cluster_(std::make_unique<Cluster::Impl>(MainCluster())),
      leadership_(options_, *cluster_, recorder_),
      webhooks_(options_, client(), cache(), *metrics_),
      endpoints_(std::make_unique<ManagerServers>(options_)) {
  if (options_.debug.bind_address != "0") history_ = std::make_unique<ReconcileHistory>();
  for (auto& group : groups_) {
    group = std::make_unique<RunnableThreads>(
        [this](const std::string& name, const std::string& error) {
          Fail("The runnable \"" + name + "\" failed, stopping", error);
        });
  }
}

Manager::Impl::~Impl() {  // handlers add keys to the queues of the controllers
  for (const auto& group : groups_) group->RequestStop();
  cluster_metrics_.clear();
  further_clusters_.clear();
  cluster_->Stop();
}

void Manager::Impl::RequireNotStopping(const std::string& type, const std::string& name) const {
  const std::lock_guard guard{mutex_};
  if (phase_ != Phase::kStopping) return;
  throw std::logic_error("the " + type + " \"" + name + "\" was added during the shutdown");
}

void Manager::Impl::Add(RunnableOptions options, Runnable runnable) {
  RequireNotStopping("runnable", options.name);
  // If the shutdown begins now, the group stops the runnable, or does not start it.
  Group(options.group).Add(std::move(options.name), std::move(runnable));
}

RunnableThreads& Manager::Impl::Group(RunnableGroup group) {
  return *groups_.at(static_cast<std::size_t>(group));
}

ClusterSettings Manager::Impl::MainCluster() {
  ClusterSettings settings =
      ClusterSettingsOf(options_, "", ClusterOptionsOf(options_), CollectedMetrics());
  ReportSkippedObjects(settings.options.cache);
  ReportWriteLoops(settings);
  RecordStreams(settings, recorder_);
  return settings;
}

void Manager::Impl::ReportWriteLoops(ClusterSettings& settings) {
  settings.on_write_loop = [this, cluster = settings.name](const detail::WriteLoop& loop) {
    write_loops_.Report(loop, cluster);
  };
}

Cluster& Manager::Impl::AddCluster(const std::string& name, ClusterOptions options) {
  if (name.empty()) throw std::invalid_argument("AddCluster needs the name of the cluster");
  RequireNotStopping("cluster", name);
  ClusterSettings settings =
      ClusterSettingsOf(options_, name, std::move(options), CollectedMetrics());
  ReportWriteLoops(settings);
  auto added = std::make_unique<Cluster::Impl>(std::move(settings));
  Cluster::Impl& cluster = *added;
  std::unique_ptr<workqueue::Metric> metric;  // may be null
  if (Metrics* metrics = CollectedMetrics()) {
    metric = metrics->NewClusterSyncedMetric(
        name, [&cluster] { return cluster.cache().NotSynced().empty(); });
  }
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
    cluster_metrics_.push_back(std::move(metric));
  }
  if (start) cluster.cache().Start();
  if (!cluster.required()) {
    Add({.name = "cluster " + name, .group = RunnableGroup::kCaches},
        [this, &cluster](const std::stop_token& stop) { AwaitOptionalCluster(cluster, stop); });
  }
  return cluster.cluster();
}

void Manager::Impl::AddMetricsServerExtraHandler(const std::string& path,
                                                 const HttpServer::Route& route) {
  if (run_called_) throw std::logic_error("AddMetricsServerExtraHandler was called after Run");
  endpoints_->AddMetricsRoute(path, route);
}

std::vector<Cluster::Impl*> Manager::Impl::Clusters() const {
  const std::lock_guard guard{mutex_};
  std::vector<Cluster::Impl*> all{cluster_.get()};
  for (const auto& cluster : further_clusters_) all.push_back(cluster.get());
  return all;
}

Metrics* Manager::Impl::CollectedMetrics() const {
  return options_.metrics.bind_address == "0" ? nullptr : metrics_.get();
}

Manager::Manager(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Manager::~Manager() = default;

Controller& Manager::NewController(ControllerOptions options, const Kind& kind) {
  return impl_->NewController(std::move(options), kind).controller();
}
std::vector<Controller*> Manager::Controllers() const {
  std::vector<Controller*> all;
  for (Controller::Impl* controller : impl_->Controllers()) {
    all.push_back(&controller->controller());
  }
  return all;
}
void Manager::AddCrdSource(detail::CrdSource source) { impl_->crds().Add(std::move(source)); }
std::vector<CustomResourceDefinition> Manager::Crds() const { return impl_->crds().Definitions(); }
void Manager::InstallCrds(Duration timeout, const std::stop_token& stop) {
  impl_->InstallCrds(timeout, stop);
}
void Manager::AddKindWebhook(KindWebhook webhook) { impl_->webhooks().Add(std::move(webhook)); }
void Manager::AddWebhook(const std::string& path, AdmissionHandler handler,
                         const WebhookOptions& options) {
  impl_->webhooks().AddAdmission(path, std::move(handler), options);
}
void Manager::AddAuthentication(const std::string& path, Authenticator authenticate,
                                const WebhookOptions& options) {
  impl_->webhooks().AddAuthentication(path, std::move(authenticate), options);
}
void Manager::Add(RunnableOptions options, Runnable runnable) {
  impl_->Add(std::move(options), std::move(runnable));
}
Cluster& Manager::AddCluster(const std::string& name, ClusterOptions options) {
  return impl_->AddCluster(name, std::move(options));
}
void Manager::AddHealthzCheck(std::string name, HealthCheck check) {
  impl_->endpoints().liveness().Add(std::move(name), std::move(check));
}
void Manager::AddReadyzCheck(std::string name, HealthCheck check) {
  impl_->endpoints().readiness().Add(std::move(name), std::move(check));
}
void Manager::AddMetricsServerExtraHandler(const std::string& path,
                                           const HttpServer::Route& route) {
  impl_->AddMetricsServerExtraHandler(path, route);
}
Metrics& Manager::metrics() { return impl_->metrics(); }
std::stop_token Manager::Elected() const { return impl_->Elected(); }
void Manager::Declare(Permission permission) { impl_->Declare(std::move(permission)); }
std::vector<Permission> Manager::Permissions() const { return impl_->Permissions(); }
const Client& Manager::client() const { return impl_->client(); }
const Client& Manager::leader_client() const { return impl_->leader_client(); }
const Cache& Manager::cache() const { return impl_->cache(); }
Cache& Manager::cache() { return impl_->cache(); }
int Manager::Run(const std::stop_token& stop) { return impl_->Run(stop); }

WebhookRegistry& WebhooksOf(Manager& manager) { return manager.impl_->webhooks(); }

}  // namespace kopp
