#pragma once

#include "serving/certificate_watcher.hpp"

#include <memory>
#include <string>

#include <kopp/client.hpp>
#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/serving/access_review.hpp>
#include <kopp/serving/metrics_server_options.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Serves /metrics, and further routes, at MetricsServerOptions::bind_address. With
/// MetricsServerOptions::secure it uses HTTPS, and requires an authorized token for each route; see
/// AccessReviewer. The certificate is reloaded when its files change. It has its own threads, so a
/// slow scrape or review does not delay health checks.
class MetricsServer {
 public:
  /// Serves until the destructor, also while this replica is not the leader. `client` must not be
  /// fenced by leader election. `metrics` and `clock` must outlive the server. Throws ConfigError,
  /// which names the flag, if it cannot listen or read the certificate.
  MetricsServer(const MetricsServerOptions& options, Metrics& metrics, const Client& client,
                HttpServer::Routes extra_routes = {}, const Logger& log = Logger(),
                Clock& clock = Clock::Real());
  /// Cancels running reviews.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// Returns the address and port, as HttpServer::address.
  [[nodiscard]] std::string address() const { return server_->address(); }

 private:
  // The order is that of construction; each uses those above.
  std::unique_ptr<AccessReviewer> reviewer_;  // null without MetricsServerOptions::secure
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<CertificateWatcher> certificate_;  // null without certificate files
};

}  // namespace kopp
