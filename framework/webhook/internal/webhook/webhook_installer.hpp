#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The options of a WebhookInstaller.
struct WebhookInstallerOptions {
  std::vector<nlohmann::json> configurations{};  ///< see NewConfigurations
  ObjectKey service{};                           ///< of the webhooks
  std::function<bool()> is_leader{};
  Logger log{};
  Clock& clock = Clock::Real();  ///< must outlive the installer
};

/// Creates and updates the webhook configurations of a program (--install-webhooks), once for each
/// time that it becomes the leader. A configuration that does not exist yet is created when the
/// Service has had a ready endpoint for a few seconds: before, the API server would reject writes,
/// because it could not call the webhook. Not thread-safe, but for Request.
class WebhookInstaller {
 public:
  explicit WebhookInstaller(WebhookInstallerOptions options) : options_(std::move(options)) {}

  /// Makes Install write. Call it when this replica becomes the leader. Thread-safe.
  void Request() { is_due_ = true; }

  /// Does the next step, if it was requested and this replica is the leader. `ca_bundle`, in
  /// Base64, is the CA of the webhooks; "": they keep the one that they have. Returns when the next
  /// step is due; WallTime::max(): nothing is. Throws as Client does.
  WallTime Install(const Client& client, const std::string& ca_bundle);

 private:
  [[nodiscard]] Duration TimeUntilCallable(const Client& client);

  const WebhookInstallerOptions options_;
  std::atomic<bool> is_due_ = false;
  std::optional<TimePoint> ready_since_{};  // when a ready endpoint was first seen
  bool is_waiting_ = false;                 // the log says so
};

/// Deletes the configurations of the webhooks at `service`. Throws as Client does.
void UninstallWebhooks(const Client& client, const ObjectKey& service, const Logger& log);

}  // namespace kopp
