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

/// Owns what the controllers of a program share (connection, client, cache, metrics, recorder of
/// events) and runs them.
///
///     kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
///     manager.AddController<Foo>({.workers = 2}).Owns<kopp::Deployment>().Reconcile(Reconcile);
///     return manager.Run(kopp::StopOnSignal());
class Manager {
 public:
  /// Never throws for a configuration that cannot be used: Run says so. Starts no thread.
  explicit Manager(Options options);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  /// Adds a controller of the objects of `T`; it is complete with Reconcile. Before Run.
  template <Object T>
  ControllerBuilder<T> AddController(ControllerOptions options = {}) {
    return ControllerBuilder<T>(AddNamed(std::move(options), T::kKind));
  }

  [[nodiscard]] const Client& client() const { return client_; }
  [[nodiscard]] const Cache& cache() const { return cache_; }

  /// Runs until `stop` asks, then stops in order: workers finish what they have in hand, watches
  /// end, the last Events are written. Returns the program's exit code: 0, or 1 when it could not
  /// start, or not wait for its caches, with one line of log that says why. Throws std::logic_error
  /// when it is called twice, or for a controller without a reconciler.
  ///
  /// A reconcile that does not end within Options::graceful_shutdown_timeout has its calls
  /// cancelled; should it go on all the same, the process ends at once with code 1: a thread cannot
  /// be ended.
  int Run(const std::stop_token& stop);

 private:
  Controller& AddNamed(ControllerOptions options, const Kind& kind);
  [[nodiscard]] std::unique_ptr<HttpServer> ServeMetrics() const;
  void CheckKinds(const std::stop_token& stop) const;
  void StopWorkers();

  Options options_;
  std::string startup_problem_;  // why there is no transport that works
  std::shared_ptr<Transport> transport_;
  std::stop_source calls_;  // ends the calls of reconciles that will not end by themselves
  Client client_;
  Cache cache_;
  std::unique_ptr<EventRecorder> events_;  // from Run on
  std::unique_ptr<Metrics> metrics_;       // where they are served
  std::vector<std::unique_ptr<Controller>> controllers_;
  bool ran_ = false;
};

}  // namespace kopp
