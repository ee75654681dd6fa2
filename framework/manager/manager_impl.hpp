#pragma once

#include "cluster/cluster_impl.hpp"
#include "controller/controller_impl.hpp"
#include "leadership.hpp"
#include "manager_servers.hpp"
#include "manager_view.hpp"
#include "manager_webhooks.hpp"
#include "program_crds.hpp"
#include "recording/recorder.hpp"
#include "runnable_threads.hpp"
#include "shutdown.hpp"
#include "skipped_object_events.hpp"
#include "write_loop_reporter.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/events.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/serving/debug.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp {

/// The controllers of a manager and what they share, from the start to the stop. The public
/// functions are those of Manager.
class Manager::Impl {
 public:
  explicit Impl(Options options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Controller::Impl& NewController(ControllerOptions options, const Kind& kind);
  [[nodiscard]] std::vector<Controller::Impl*> Controllers() const;
  void InstallCrds(Duration timeout, const std::stop_token& stop);
  void Add(RunnableOptions options, Runnable runnable);
  Cluster& AddCluster(const std::string& name, ClusterOptions options);
  void AddMetricsServerExtraHandler(const std::string& path, const HttpServer::Route& route);
  [[nodiscard]] ProgramCrds& crds() { return crds_; }
  [[nodiscard]] WebhookRegistry& webhooks() { return webhooks_.registry(); }
  [[nodiscard]] ManagerServers& endpoints() { return *endpoints_; }
  [[nodiscard]] Metrics& metrics() { return *metrics_; }
  [[nodiscard]] std::stop_token Elected() const { return leadership_.elected(); }
  void Declare(Permission permission) { declared_.push_back(std::move(permission)); }
  [[nodiscard]] std::vector<Permission> Permissions() const;
  [[nodiscard]] const Client& client() const { return cluster_->client(); }
  [[nodiscard]] const Client& leader_client() const { return leadership_.client(); }
  [[nodiscard]] Cache& cache() const { return cluster_->cache(); }
  int Run(const std::stop_token& stop);

 private:
  enum class Phase { kNew, kStarting, kCachesStarted, kStopping };

  void RequireNewController(const std::string& name) const;
  void RequireNotStopping(const std::string& type, const std::string& name) const;
  void StartLater(Controller::Impl& controller);
  void AwaitCaches(const Controller::Impl& controller, const std::stop_token& stop) const;
  void StartWorkers(Controller::Impl& controller);
  void RunController(Controller::Impl& controller, const std::stop_token& stop);
  [[nodiscard]] RunnableThreads& Group(RunnableGroup group);
  [[nodiscard]] std::vector<Cluster::Impl*> Clusters() const;
  [[nodiscard]] ClusterSettings MainCluster();
  void ReportSkippedObjects(CacheOptions& cache);
  void ReportWriteLoops(ClusterSettings& settings);
  [[nodiscard]] Metrics* CollectedMetrics() const;

  bool Start(const std::stop_token& stop);
  void PostponeControllers();
  void CheckKinds(const std::stop_token& stop);
  void AwaitOptionalCluster(const Cluster::Impl& cluster, const std::stop_token& stop) const;
  void StartCaches();
  bool WaitForCaches(const std::stop_token& stop);
  void Lead(const std::stop_token& stop);
  void CreateEventRecorder();
  [[nodiscard]] std::unique_ptr<EventRecorder> NewEventRecorder(Transport& transport);
  [[nodiscard]] EventRecorder& TermEvents() const;
  void CreateElector();
  void LeadUntil(const std::stop_token& stop);
  void StopReporters();
  void EndTerm();
  void Fail(std::string_view message, const std::string& error);
  int Check(const std::stop_token& stop) const;
  int PrintRoles() const;
  int UninstallWebhooks(const std::stop_token& stop) const;
  void StopAll();
  void StopControllers(Shutdown& shutdown);
  void StopCaches(Shutdown& shutdown);
  void StopGroup(RunnableGroup group, Shutdown& shutdown);
  static void StopEvents(EventRecorder& events, Shutdown& shutdown);
  void SetPhase(Phase phase);
  Shutdown& BeginShutdown(Duration timeout);

  Options options_;
  const ManagerView view_{.options = options_,
                          .clusters = [this] { return Clusters(); },
                          .controllers = [this] { return Controllers(); },
                          .elector = [this] { return leadership_.elector(); },
                          .may_reconcile = [this] { return leadership_.IsLeader(); }};
  std::unique_ptr<Metrics> metrics_;              // transports and queues use it
  std::unique_ptr<SkippedObjectEvents> skipped_;  // the cache uses it
  WriteLoopReporter write_loops_;                 // the transports use it
  std::shared_ptr<Recorder> recorder_;            // null without Options::record
  std::unique_ptr<Cluster::Impl> cluster_;        // the one of the options
  std::shared_ptr<Transport> events_transport_;   // without retries; null before Run
  std::unique_ptr<EventRecorder> events_;         // null before Run
  std::unique_ptr<ReconcileHistory> history_;     // null without debug pages; controllers add to it
  std::vector<std::unique_ptr<Controller::Impl>>
      controllers_;  // changed before caches start, with mutex_
  std::vector<Permission> declared_;
  ProgramCrds crds_;

  mutable std::mutex mutex_;  // guards the next four members
  Phase phase_ = Phase::kNew;
  // Added while the manager runs, or moved by PostponeControllers.
  std::vector<std::unique_ptr<Controller::Impl>> later_controllers_;
  std::vector<std::unique_ptr<Cluster::Impl>> further_clusters_;
  std::vector<std::unique_ptr<workqueue::Metric>> cluster_metrics_;  // read further_clusters_

  std::atomic<bool> run_called_ = false;
  std::atomic<bool> failed_ = false;
  std::shared_ptr<Transport> direct_transport_;  // without retries: for the Lease and reviews
  Leadership leadership_;
  ManagerWebhooks webhooks_;            // uses the client and the cache
  std::unique_ptr<Shutdown> shutdown_;  // null before the stop
  std::unique_ptr<ManagerServers> endpoints_;
  std::stop_source stop_;  // requested by the token of Run, or after a failure
  std::array<std::unique_ptr<RunnableThreads>, 4> groups_;  // last: their threads use the manager
};

}  // namespace kopp
