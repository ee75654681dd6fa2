#include "manager_servers.hpp"

#include "serving/metrics_server.hpp"

#include <stdexcept>
#include <utility>

namespace kopp {
namespace {

std::unique_ptr<HttpServer> Listen(const std::string& flag, const std::string& address,
                                   HttpServer::Routes routes) {
  try {
    return std::make_unique<HttpServer>(HttpServerOptions{.address = address}, std::move(routes));
  } catch (const ConfigError& error) {
    throw ConfigError(flag + ": " + error.what());
  }
}

}  // namespace

ManagerServers::ManagerServers(const Options& options)
    : options_(options), liveness_(options.log), readiness_(options.log) {}

ManagerServers::~ManagerServers() = default;

void ManagerServers::AddMetricsRoute(const std::string& path, const HttpServer::Route& route) {
  const bool is_new = path != "/metrics" && metrics_routes_.try_emplace(path, route).second;
  if (is_new) return;
  throw std::invalid_argument("the path " + path + " of the metrics server is in use");
}

void ManagerServers::Start(Metrics& metrics, const Client& client) {
  if (options_.metrics.bind_address != "0") {
    metrics_server_ =
        std::make_unique<MetricsServer>(options_.metrics, metrics, client,
                                        std::move(metrics_routes_), options_.log, options_.clock);
  }
  if (options_.health.bind_address == "0") return;
  // kubebuilder's manifests probe /healthz; the API server's name for the same is /livez.
  HttpServer::Routes routes{{"/healthz/", liveness_.At("/healthz")},
                            {"/livez/", liveness_.At("/livez")},
                            {"/readyz/", readiness_.At("/readyz")}};
  health_server_ =
      Listen("--health-probe-bind-address", options_.health.bind_address, std::move(routes));
  options_.log.Info("Serving health checks", {{"address", health_server_->address()},
                                              {"paths", "/healthz, /livez, /readyz"}});
}

void ManagerServers::StartDebugPages(DebugSource source) {
  if (options_.debug.bind_address == "0") return;
  debug_server_ = Listen("--debug-bind-address", options_.debug.bind_address,
                         {{"/debug/", DebugPages(std::move(source), options_.clock)}});
  options_.log.Info("Serving debug pages",
                    {{"address", debug_server_->address()}, {"path", "/debug/"}});
}

void ManagerServers::Stop() {
  debug_server_.reset();
  metrics_server_.reset();
  health_server_.reset();
}

}  // namespace kopp
