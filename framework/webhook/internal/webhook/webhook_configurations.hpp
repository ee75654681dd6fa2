#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/webhook/webhook_builder.hpp>

namespace kopp {

/// The names in the manifests of webhooks.
struct WebhookManifestOptions {
  /// Of the webhook server; its port 443 leads to it. The names of cert-manager's objects start
  /// with its name.
  ObjectKey service{};
  bool cert_manager = false;  ///< see WebhookServerOptions::cert_manager
};

/// Returns the webhook configurations of `webhooks`: one of each type, if it has webhooks, named
/// NAME.NAMESPACE after the Service. Webhooks of built-in kinds are not called for objects in
/// kube-system and in the namespace of the Service: otherwise a webhook that fails could prevent
/// its own Pod. Throws ConfigError if the API server would reject the name of a webhook, which
/// comes from its path.
[[nodiscard]] std::vector<nlohmann::json> NewConfigurations(
    const std::vector<KindWebhook>& webhooks, const WebhookManifestOptions& options);
/// Returns NewConfigurations as YAML documents, after the objects of cert-manager. Throws as it
/// does.
[[nodiscard]] std::string PrintWebhooks(const std::vector<KindWebhook>& webhooks,
                                        const WebhookManifestOptions& options);

/// Returns the name of both configurations of the webhooks at `service`, which is unique in the
/// cluster.
[[nodiscard]] std::string ConfigurationNameOf(const ObjectKey& service);

/// Returns the host at which API servers call `service`.
[[nodiscard]] std::string ApiServerHostOf(const ObjectKey& service);

/// Returns the kind of the configurations with webhooks of this type, a constant.
[[nodiscard]] const Kind& ConfigurationKindOf(WebhookType type);
/// Returns the kinds of all webhook configurations.
[[nodiscard]] std::vector<const Kind*> AllConfigurationKinds();
/// Returns the kinds of the configurations of `webhooks`. They are constants.
[[nodiscard]] std::vector<const Kind*> ConfigurationKindsOf(
    const std::vector<KindWebhook>& webhooks);

/// Returns a sentence for each webhook that may block Pods if it cannot be called.
[[nodiscard]] std::vector<std::string> WebhookWarnings(const std::vector<KindWebhook>& webhooks);

}  // namespace kopp
