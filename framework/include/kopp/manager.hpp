#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/controller.hpp>
#include <kopp/options.hpp>

namespace kopp {

class HttpServer;
class Metrics;

/// Runs the controllers of a program. Owns them and what they share: transport, client, cache,
/// event recorder and metrics.
///
///     kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
///     manager.AddController<Foo>({.workers = 2}).Owns<kopp::Deployment>().Reconcile(Reconcile);
///     return manager.Run(kopp::StopOnSignal());
///
/// Not thread-safe: one thread adds the controllers and calls Run. client() and cache() may then be
/// used by any thread, until the manager is destroyed.
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
  /// Throws std::logic_error after Run, or if another controller has the same name, and
  /// std::invalid_argument for fewer than one worker.
  template <Object T>
  ControllerBuilder<T> AddController(ControllerOptions options = {}) {
    return ControllerBuilder<T>(NewController(std::move(options), T::kKind));
  }

  /// Returns the client for the API server. After a graceful shutdown has timed out, its calls
  /// throw.
  [[nodiscard]] const Client& client() const { return client_; }
  /// Returns the cache of the watched objects. It is empty until Run.
  [[nodiscard]] const Cache& cache() const { return cache_; }
  /// The same, for example to add indexes and informers.
  [[nodiscard]] Cache& cache() { return cache_; }

  /// Serves metrics, checks that the API server serves all watched kinds except those with
  /// CacheOptions::wait_if_missing, waits for the caches to sync, starts the workers, and blocks
  /// until a stop is requested. Then shuts down in this order: the workers finish their current
  /// reconcile, the watches end, the queued Events are written.
  ///
  /// Returns the exit code for main: 0, or 1 if the start failed, the caches did not sync within
  /// CacheOptions::sync_timeout, or the stop came before they had; one log line gives the reason.
  /// Throws std::logic_error on a second call, or if a controller has no reconcile function.
  ///
  /// If a reconcile or a function of Watches does not return within
  /// Options::graceful_shutdown_timeout, its API calls and reads of the cache that wait are
  /// cancelled. If it still does not return within 5 seconds, the process exits with code 1,
  /// because a thread cannot be terminated.
  int Run(const std::stop_token& stop);

 private:
  Controller& NewController(ControllerOptions options, const Kind& kind);
  [[nodiscard]] std::unique_ptr<HttpServer> ServeMetrics() const;
  void CheckKindsAreServed(const std::stop_token& stop) const;
  void StopWorkers(TimePoint deadline);
  void StopCache(TimePoint deadline);

  Options options_;
  std::string config_error_;  // the reason why transport_ is unusable; empty if it is usable
  std::unique_ptr<Metrics> metrics_;  // null if no metrics are served; transport_ uses it
  std::shared_ptr<Transport> transport_;
  std::stop_source cancel_calls_;  // cancels the API calls of reconciles that do not return
  Client client_;
  Cache cache_;
  std::unique_ptr<EventRecorder> events_;  // null before Run
  std::vector<std::unique_ptr<Controller>> controllers_;
  bool run_called_ = false;
};

}  // namespace kopp
