#pragma once

#include <memory>
#include <string>

#include <kopp/client.hpp>
#include <kopp/http_server.hpp>
#include <kopp/metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/serving/debug.hpp>
#include <kopp/serving/health.hpp>

namespace kopp {

class MetricsServer;

/// The HTTP servers of a Manager: metrics, health checks and debug pages. Checks and routes are
/// added before Start; AddCheck may also be called afterwards.
class ManagerServers {
 public:
  /// `options` must outlive the object.
  explicit ManagerServers(const Options& options);
  ~ManagerServers();
  ManagerServers(const ManagerServers&) = delete;
  ManagerServers& operator=(const ManagerServers&) = delete;

  [[nodiscard]] HealthChecks& liveness() { return liveness_; }
  [[nodiscard]] HealthChecks& readiness() { return readiness_; }
  void AddMetricsRoute(const std::string& path, const HttpServer::Route& route);

  /// Serves at the addresses of the options until the destructor. `metrics` must outlive the
  /// object; `client` must not be fenced by leader election. Throws ConfigError, which names the
  /// flag, if it cannot listen or read the certificate.
  void Start(Metrics& metrics, const Client& client);
  /// Serves the debug pages in the same way, if the options have an address for them.
  void StartDebugPages(DebugSource source);
  /// Ends the servers. Blocks until running checks and handlers return.
  void Stop();

 private:
  const Options& options_;
  HealthChecks liveness_;
  HealthChecks readiness_;
  HttpServer::Routes metrics_routes_;
  std::unique_ptr<MetricsServer> metrics_server_;  // null: metrics are not served
  std::unique_ptr<HttpServer> health_server_;      // null: health checks are not served
  std::unique_ptr<HttpServer> debug_server_;       // null: debug pages are not served
};

}  // namespace kopp
