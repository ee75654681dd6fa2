#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/cluster.hpp>
#include <kopp/controller/controller_builder.hpp>
#include <kopp/controller/controller_options.hpp>
#include <kopp/crd.hpp>
#include <kopp/http_server.hpp>
#include <kopp/options.hpp>
#include <kopp/permission.hpp>
#include <kopp/runnable.hpp>
#include <kopp/serving/health.hpp>
#include <kopp/webhook/token_review.hpp>
#include <kopp/webhook/webhook_builder.hpp>
#include <kopp/workqueue/owned_ptr.hpp>

namespace kopp {

class Metrics;
class WebhookRegistry;

/// Runs the controllers of a program. Owns them and what they share: transport, client, cache,
/// event recorder and metrics.
///
///     kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
///     manager.AddController<Foo>({.workers = 2}).Owns<kopp::Deployment>().Reconcile(Reconcile);
///     return manager.Run(kopp::StopOnSignal());
///
/// AddController, Add, AddCluster, client() and cache() are thread-safe, until the manager is
/// destroyed. Complete the controllers that are added before Run on the thread that calls Run.
class Manager {
 public:
  /// Loads the kubeconfig or in-cluster configuration. Does not throw if that fails: Run reports
  /// it. Does not connect and does not start threads. options.clock must outlive the manager.
  /// Throws std::invalid_argument if options.watch_namespace has an invalid name.
  explicit Manager(Options options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Adds a controller for objects of `T`. Call Reconcile on the returned builder to complete it.
  /// Throws std::logic_error during the shutdown, or if another controller has the same name, and
  /// std::invalid_argument for fewer than one worker.
  ///
  /// It may be added while the manager runs, for example after a CustomResourceDefinition was
  /// installed. Reconcile then starts it in kLeaderElected: its sources and workers start when the
  /// caches that it needs have synced, and when this replica is the leader. If they do not sync in
  /// time, the manager stops, as at the start; see CacheOptions::wait_if_missing and, for further
  /// clusters, ClusterOptions::required. Reconcile throws std::logic_error during the shutdown, and
  /// std::system_error if there are too many threads.
  template <typename T>
  ControllerBuilder<T> AddController(ControllerOptions options = {}) {
    static_assert(detail::RequireObject<T>());
    ControllerBuilder<T> builder(NewController(std::move(options), T::kKind));
    if constexpr (HasCrd<T>) AddCrd<T>();
    return builder;
  }
  /// The same for a kind that is only known at run time. The cache has whole objects.
  ControllerBuilder<Unstructured> AddController(const OwningKind& kind,
                                                ControllerOptions options = {}) {
    return {NewController(std::move(options), kind), kind};
  }

  /// Returns all controllers. They are valid until the manager is destroyed.
  [[nodiscard]] std::vector<Controller*> Controllers() const;

  /// Adds the CustomResourceDefinition of a kind, for --print-crd and InstallCrds. AddController
  /// adds that of its kind. Add each version of a kind; each once or more often.
  template <HasCrd T>
  void AddCrd() {
    AddCrdSource({T::kKind, &detail::DescribeCrdOf<T>});
  }
  /// Returns the added definitions. Throws std::logic_error as CustomResourceDefinitionOf does.
  [[nodiscard]] std::vector<CustomResourceDefinition> Crds() const;
  /// Creates or updates the added definitions, and blocks until the API server serves them; see
  /// kopp::InstallCrds, also for the errors. Run does so before it starts the caches if
  /// Options::install_crds is set. Call it before Run to read objects of the kinds before.
  void InstallCrds(Duration timeout = std::chrono::seconds(30), const std::stop_token& stop = {});

  /// Adds webhooks for objects of `T`. Complete them before Run with functions of the returned
  /// builder, which throw std::logic_error if a path is in use or a webhook is added after Run. Run
  /// serves them over HTTPS, also on other replicas than the leader; see Options::webhook.
  template <typename T>
  WebhookBuilder<T> AddWebhook(const WebhookOptions& options = {}) {
    static_assert(detail::RequireObject<T>());
    return {[this](KindWebhook webhook) { AddKindWebhook(std::move(webhook)); }, options};
  }
  /// Adds a webhook for objects of any kind, and one that the API server asks about bearer tokens.
  /// Both also throw std::invalid_argument if the path is not valid.
  void AddWebhook(const std::string& path, AdmissionHandler handler,
                  const WebhookOptions& options = {});
  void AddAuthentication(const std::string& path, Authenticator authenticate,
                         const WebhookOptions& options = {});

  /// Adds a task that runs on a thread of its own, in its group. If the manager runs and has
  /// started the group, the task starts at once. Throws std::logic_error during the shutdown, and
  /// std::system_error if there are too many threads.
  ///
  ///     manager.Add({.name = "report"}, [&](std::stop_token stop) {
  ///       while (kopp::SleepUntil(clock, kopp::SaturatingAdd(clock.Now(), 1h), stop)) {
  ///         SendReport(manager.cache());
  ///       }
  ///     });
  void Add(RunnableOptions options, Runnable runnable);

  /// Adds a cluster. If the manager has started its caches, that of the cluster starts at once, and
  /// AddCluster throws ConfigError if the configuration is invalid; else Run reports it. The
  /// reference is valid until the manager is destroyed. Throws std::logic_error during the
  /// shutdown, or if another cluster has the name, and std::invalid_argument if the name is empty.
  Cluster& AddCluster(const std::string& name, ClusterOptions options);

  /// Adds a check to /healthz and /livez: the kubelet restarts the container if one fails. May be
  /// called at any time. Throws std::invalid_argument as HealthChecks::Add does. There are already
  /// "leader-election", "informers", "log" and, for each controller, "workers-NAME" and
  /// "queue-NAME": see HealthOptions::liveness_limit.
  void AddHealthzCheck(std::string name, HealthCheck check);
  /// Adds a check to /readyz: the Pod is not ready while one fails. There is already "caches",
  /// which fails until all caches have synced, "webhook", which fails while the server of webhooks
  /// does not accept connections, and "shutdown", which fails after a stop request.
  void AddReadyzCheck(std::string name, HealthCheck check);
  /// Adds a path to the metrics server, with the same access control. Throws std::logic_error after
  /// Run, and std::invalid_argument if the path is in use.
  void AddMetricsServerExtraHandler(const std::string& path, const HttpServer::Route& route);
  /// Returns the metrics that are served at /metrics, to add those of the program. They are never
  /// served if Options::metrics.bind_address is "0".
  [[nodiscard]] Metrics& metrics();

  /// Returns a token that is "stopped" when this program starts to reconcile: when it becomes the
  /// leader for the first time or, without leader election, when its caches have synced. Use it
  /// with a std::stop_callback. controller-runtime: Manager.Elected.
  [[nodiscard]] std::stop_token Elected() const;

  /// Declares requests that the program sends, for --check and --print-rbac; not those of the
  /// manager: watches, Events, Leases, reviews, `update` on finalizers, `get` on owned kinds. Not
  /// thread-safe.
  ///
  ///     manager.Declare(kopp::PermissionFor(kopp::Deployment::kKind, {"create", "update"}));
  ///     manager.Declare(kopp::PermissionFor(Foo::kKind, {"patch"}, "status"));
  void Declare(Permission permission);
  /// Returns what the manager and the program need in the manager's own cluster; see Declare.
  /// Throws ConfigError if the namespace of the Lease is not known.
  [[nodiscard]] std::vector<Permission> Permissions() const;

  /// Returns the client for the API server. Its calls throw after a graceful shutdown has timed
  /// out. Unlike Context::client, it also writes while another replica is the leader, and its field
  /// manager is Options::name. Controllers take over what that field manager has applied (see
  /// ControllerOptions::former_field_managers), so use Client::WithFieldManager to apply to objects
  /// that controllers apply, too.
  [[nodiscard]] const Client& client() const;
  /// Returns the client for tasks of the leader: while this replica is not the leader, it throws
  /// NotLeaderError instead of a write, as Context::client. Its field manager is that of client().
  /// Without leader election: client().
  [[nodiscard]] const Client& leader_client() const;
  /// Returns the cache of the watched objects, which is empty until Run. Add indexes to it.
  [[nodiscard]] const Cache& cache() const;
  [[nodiscard]] Cache& cache();

  /// Starts everything in this order, and blocks until a stop is requested:
  ///
  /// 1. the servers of webhooks, metrics, health checks and debug pages, and
  ///    RunnableGroup::kServers,
  /// 2. the caches of all clusters, after a check that their API servers serve the watched kinds
  ///    (see CacheOptions::wait_if_missing), and kCaches; then it waits until the caches have
  ///    synced, those of a further cluster only if it is ClusterOptions::required,
  /// 3. RunnableGroup::kOthers,
  /// 4. the controllers and kLeaderElected; with leader election, when this replica is the leader.
  ///    A controller that watches a further cluster that cannot be reached waits for 5 seconds.
  ///
  /// Then stops: the controllers finish their current reconciles while their sources and
  /// kLeaderElected end, with leader election the queued Events of reconciles are written and the
  /// lease is released, kOthers ends, webhooks are answered until
  /// WebhookServerOptions::shutdown_delay after the stop request, the caches and kCaches end, the
  /// queued Events are written, kServers and the servers end.
  ///
  /// If a leader loses its lease, Context::client refuses to write from this moment on, Events of
  /// reconciles are dropped, the stop of each reconcile is requested, and calls are cancelled. With
  /// OnLost::kExit, the program then stops without a graceful timeout and Run returns 1. With
  /// OnLost::kCampaign, it waits until it is the leader again.
  ///
  /// Returns the exit code for main: 0, also if the stop is requested during the start; 1 if the
  /// start failed, the caches of step 2 did not sync within CacheOptions::sync_timeout, a runnable
  /// failed, or the shutdown took too long; the log gives the reason. Throws std::logic_error on a
  /// second call, or if a controller has no reconcile function.
  ///
  /// The whole shutdown is limited by Options::graceful_shutdown_timeout. Before it ends, by a
  /// quarter of it or 5 seconds if that is less, the API calls of reconciles, handlers and
  /// runnables that still run are cancelled, and so are their reads of the cache that wait. If they
  /// do not return within the timeout, the process exits with code 1, because a thread cannot be
  /// terminated; the log names them.
  ///
  /// With Options::Action::kCheck, kPrintRbac, kPrintCrd or kPrintWebhooks, Run prints to standard
  /// output and returns at once: 0, or 1 if the check has found a problem.
  int Run(const std::stop_token& stop);

 private:
  friend WebhookRegistry& WebhooksOf(Manager& manager);  // not for users
  class Impl;

  void AddCrdSource(detail::CrdSource source);
  void AddKindWebhook(KindWebhook webhook);
  Controller& NewController(ControllerOptions options, const Kind& kind);

  detail::OwnedPtr<Impl> impl_;
};

}  // namespace kopp
