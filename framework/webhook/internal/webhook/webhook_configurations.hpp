#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/webhook/webhook_builder.hpp>

namespace kopp {

/// The names in the manifests of webhooks.
struct WebhookManifestOptions {
  std::string program{};      ///< the prefix of the names of cert-manager's objects
  ObjectKey service{};        ///< of the webhook server; its port 443 leads to it
  bool cert_manager = false;  ///< see WebhookServerOptions::cert_manager
};

/// Returns the host at which API servers call `service`: "NAME.NAMESPACE.svc".
[[nodiscard]] std::string HostOf(const ObjectKey& service);

/// Returns the name of both configurations of the webhooks at `service`: "NAME.NAMESPACE", which is
/// unique in the cluster.
[[nodiscard]] std::string ConfigurationNameOf(const ObjectKey& service);

/// Returns the webhook configurations of `webhooks`: one of each type, if it has webhooks.
[[nodiscard]] std::vector<nlohmann::json> MakeConfigurations(
    const std::vector<KindWebhook>& webhooks, const WebhookManifestOptions& options);

/// Returns the same as YAML documents, after the objects of cert-manager. Webhooks of built-in
/// kinds are not called for objects in kube-system and in the namespace of the Service: otherwise a
/// webhook that fails could prevent its own Pod.
[[nodiscard]] std::string PrintWebhooks(const std::vector<KindWebhook>& webhooks,
                                        const WebhookManifestOptions& options);

/// Returns NAMESPACE/NAME of the Certificate whose CA cert-manager adds; empty without
/// cert-manager.
[[nodiscard]] std::string CertificateOf(const WebhookManifestOptions& options);

/// Returns a sentence for each webhook that may block Pods if it cannot be called.
[[nodiscard]] std::vector<std::string> WebhookWarnings(const std::vector<KindWebhook>& webhooks);

}  // namespace kopp
