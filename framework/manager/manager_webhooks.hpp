#pragma once

#include "shutdown.hpp"
#include "webhook/webhook_registry.hpp"
#include "webhook/webhook_server.hpp"

#include <memory>
#include <string>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/permission.hpp>
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

  /// Returns what FindProblems needs: to read the configurations, if their Service is known.
  [[nodiscard]] std::vector<Permission> Permissions() const;
  /// Returns why the API server could not call the webhooks: the certificate is not usable, or a
  /// configuration is absent, lacks a webhook, or trusts no CA. The configurations are read only if
  /// WebhookServerOptions::service is set.
  [[nodiscard]] std::vector<std::string> FindProblems(const Client& client) const;
  /// --print-webhooks. Returns the exit code.
  [[nodiscard]] int Print() const;

 private:
  [[nodiscard]] bool AreServed() const { return !registry_.empty() && options_.webhook.port >= 0; }

  const Options& options_;
  Metrics& metrics_;
  WebhookRegistry registry_;
  std::unique_ptr<WebhookServer> server_;  // null: webhooks are not served
};

}  // namespace kopp
