#pragma once

#include "shutdown.hpp"
#include "webhook/webhook_registry.hpp"
#include "webhook/webhook_server.hpp"

#include <memory>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/serving/health.hpp>

namespace kopp {

/// The webhooks of a Manager, and their server.
class ManagerWebhooks {
 public:
  /// All must outlive the object.
  ManagerWebhooks(const Options& options, const Client& client, const Cache& cache,
                  Metrics& metrics);

  [[nodiscard]] WebhookRegistry& registry() { return registry_; }

  /// Serves the webhooks, if there are any and WebhookServerOptions::port is not -1, and adds the
  /// check "webhook" to `readiness`. Throws ConfigError, which names the flag, if it cannot.
  void Start(HealthChecks& readiness);
  /// Starts the shutdown of the server; see WebhookServer::AnnounceShutdown. Does nothing without
  /// one.
  void AnnounceShutdown();
  /// Blocks until all requests are answered, and ends the server.
  void Stop(Shutdown& shutdown);

  /// --print-webhooks. Returns the exit code.
  [[nodiscard]] int Print() const;

 private:
  const Options& options_;
  Metrics& metrics_;
  WebhookRegistry registry_;
  std::unique_ptr<WebhookServer> server_;  // null: webhooks are not served
};

}  // namespace kopp
