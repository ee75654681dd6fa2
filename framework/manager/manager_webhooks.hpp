#pragma once

#include "serving/certificate_watcher.hpp"
#include "shutdown.hpp"
#include "webhook/ca_bundle_check.hpp"
#include "webhook/issued_certificates.hpp"
#include "webhook/webhook_configurations.hpp"
#include "webhook/webhook_installer.hpp"
#include "webhook/webhook_registry.hpp"
#include "webhook/webhook_server.hpp"

#include <functional>
#include <memory>
#include <optional>
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
  /// All must outlive the object. Certificates are issued with `client`.
  ManagerWebhooks(const Options& options, const Client& client, const Cache& cache,
                  Metrics& metrics);

  [[nodiscard]] WebhookRegistry& registry() { return registry_; }

  /// Serves the webhooks, if there are any and WebhookServerOptions::port is not -1, and adds the
  /// check "webhook" to `readiness`. Throws ConfigError, which names the flag, if it cannot.
  /// `is_leader` is called by other threads until Stop.
  void Start(HealthChecks& readiness, std::function<bool()> is_leader);
  /// Issues the certificates that are due, and installs the configurations. Call it when this
  /// replica becomes the leader.
  void OnElected();
  /// Starts the shutdown of the server; see WebhookServer::AnnounceShutdown. Does nothing without
  /// one.
  void AnnounceShutdown();
  /// Blocks until all requests are answered, and ends the server.
  void Stop(Shutdown& shutdown);

  /// Returns what the program needs to issue certificates, or, with certificates in files, to read
  /// the configurations. Nothing if their Service is not known.
  [[nodiscard]] std::vector<Permission> Permissions() const;
  /// Returns what Permissions() lacks, in sentences.
  [[nodiscard]] std::vector<std::string> Warnings() const;
  /// Returns why the API server could not call the webhooks: the certificate is not usable, or a
  /// configuration is absent, lacks a webhook, or does not trust the certificate. With certificates
  /// in files, the configurations are read only if WebhookServerOptions::service is set.
  [[nodiscard]] std::vector<std::string> FindProblems(const Client& client) const;
  /// --print-webhooks. Returns the exit code.
  [[nodiscard]] int Print() const;
  /// --uninstall-webhooks. Throws as Client does, and ConfigError if the Service is not known.
  void Uninstall(const Client& client) const;

 private:
  [[nodiscard]] bool AreServed() const { return !registry_.empty() && options_.webhook.port >= 0; }
  [[nodiscard]] bool IssuesCertificates() const { return options_.webhook.cert_path.empty(); }
  [[nodiscard]] bool IsServiceKnown() const;
  [[nodiscard]] WebhookManifestOptions ManifestOptions() const;
  void ServeFiles(const WebhookServing& serving);
  void ServeIssued(const WebhookServing& serving, std::function<bool()> is_leader);
  [[nodiscard]] std::optional<std::string> Problem() const;
  [[nodiscard]] std::string StoredCertificate(const Client& client) const;

  const Options& options_;
  const Client& client_;
  Metrics& metrics_;
  WebhookRegistry registry_;
  std::unique_ptr<WebhookServer> server_;        // null: webhooks are not served
  std::unique_ptr<WebhookInstaller> installer_;  // null: configurations are not installed
  std::unique_ptr<CaBundleCheck> ca_bundles_;    // of the files; null: the Service is not known
  // The source of its certificate: one of these. The threads of both use the members above.
  std::unique_ptr<CertificateWatcher> files_;
  std::unique_ptr<IssuedCertificates> issued_;
};

}  // namespace kopp
