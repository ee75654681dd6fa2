#pragma once

#include "webhook/webhook_registry.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/webhook/webhook_server_options.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// What a WebhookServer uses. All must outlive it.
struct WebhookServing {
  const WebhookServerOptions& options;
  WebhookRegistry& webhooks;
  Metrics& metrics;
  Logger log{};
  Clock& clock;
};

/// Serves webhooks over HTTPS. The certificate is replaced without a restart. address() and
/// Problem() may be called by any thread, also during and after Stop().
class WebhookServer {
 public:
  /// Serves until Stop, also while this replica is not the leader. Throws ConfigError,
  /// which names the flag, if it cannot listen or use the certificate.
  WebhookServer(const WebhookServing& serving, const HttpServerTls& certificate);
  ~WebhookServer() { Stop(); }
  WebhookServer(const WebhookServer&) = delete;
  WebhookServer& operator=(const WebhookServer&) = delete;

  /// Throws ConfigError, which names the flag, unless a server could use the certificate now.
  static void RequireUsable(const HttpServerTls& certificate, Clock& clock);

  /// Serves new connections with another certificate. Throws ConfigError if it cannot be used; the
  /// last one then stays in use.
  void SetCertificate(const HttpServerTls& certificate);

  /// Returns the address and port, as HttpServer::address.
  [[nodiscard]] const std::string& address() const { return address_; }
  /// Connects to the server, and blocks until the TLS handshake is complete, less than a second.
  /// Returns why it cannot, or nullopt. controller-runtime: Server.StartedChecker.
  [[nodiscard]] std::optional<std::string> Problem() const;

  /// Starts the shutdown of the server: it serves for WebhookServerOptions::shutdown_delay, and
  /// closes each connection after its next response. Does not block.
  void AnnounceShutdown();
  /// Blocks until this time has passed, and then until all requests are answered, or until
  /// `deadline`. Returns whether all are answered. May be called again.
  [[nodiscard]] bool Drain(TimePoint deadline);
  /// Ends the server: requests the stop of the running functions, and blocks until they return.
  void Stop();

 private:
  void ReportExpiry(const std::string& certificate) const;

  const WebhookServing serving_;
  std::unique_ptr<HttpServer> server_;  // null after Stop
  const std::string address_;
  const std::uint16_t port_;
  std::atomic<bool> stopped_ = false;
  detail::Guarded<TimePoint> serve_until_;  // the epoch: no shutdown was announced
};

}  // namespace kopp
