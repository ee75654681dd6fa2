#include "webhook/certificate_issuer.hpp"

#include "base/base64.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/config_error.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/transport_error.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Identifies Secrets that kopp has created. The type of a Secret is immutable.
constexpr const char* kSecretType = "kopp.dev/webhook-certificates";

/// The shortest time between two repairs of the same object. Without this limit, two programs that
/// replace each other's values would write without end.
constexpr Duration kRepairInterval = std::chrono::seconds(10);

std::string Describe(const ObjectKey& secret) { return secret.ns + '/' + secret.name; }

/// Returns whether a call failed because another replica was faster, or because of a stop.
bool IsConflictOrStop(const std::exception& error) {
  const auto* const api_error = dynamic_cast<const ApiError*>(&error);
  const auto* const transport_error = dynamic_cast<const TransportError*>(&error);
  return (api_error != nullptr && api_error->IsConflict()) ||
         (transport_error != nullptr &&
          transport_error->kind() == TransportError::Kind::kCancelled);
}

}  // namespace

ObjectKey CertificateSecretOf(const ObjectKey& service) {
  return {service.ns, service.name + "-cert"};
}

std::vector<std::string> HostsOf(const ObjectKey& service) {
  const std::string in_namespace = service.name + '.' + service.ns;
  const std::string host = ApiServerHostOf(service);
  return {host, host + ".cluster.local", in_namespace, service.name};
}

WebhookCertificates CertificatesIn(const Secret& secret) {
  if (secret.type != kSecretType) {
    throw ConfigError("the Secret " + Describe({secret.metadata.ns, secret.metadata.name}) +
                      " was not created for the certificates of webhooks: its type is " +
                      secret.type + ", not " + kSecretType +
                      ". Delete it, or set --webhook-service to another name");
  }
  const auto at = [&](const char* name) {
    const auto found = secret.data.find(name);
    return found == secret.data.end() ? std::string() : found->second.data;
  };
  return {.authorities = at("ca.crt"),
          .authority_key = at("ca.key"),
          .certificate = at("tls.crt"),
          .key = at("tls.key")};
}

CertificateIssuer::CertificateIssuer(CertificateIssuerOptions options)
    : options_(std::move(options)), rotation_(HostsOf(options_.service), options_.lifetimes) {}

// Reads the configurations before the Secret, and each writer stores the Secret first. So the CAs
// in a configuration are not newer than those of the Secret, unless the configuration has changed
// meanwhile, and then the apply with its resourceVersion is rejected.
CertificateIssuer::State CertificateIssuer::Reconcile(const Client& client, bool is_leader) {
  const auto configurations =
      ReadConfigurations(client, options_.configuration_kinds, options_.service);
  const auto secret = client.Get<Secret>(CertificateSecretOf(options_.service));
  const WebhookCertificates stored = secret ? CertificatesIn(*secret) : WebhookCertificates{};
  State state;
  const bool is_trusted = MakeAllTrust(client, configurations, stored, is_leader, state);

  const TimePoint now = options_.clock.Now();
  const WallTime wall_now = options_.clock.WallNow();
  const std::string trusted = is_trusted ? stored.authorities : "";
  if (trusted != trusted_authorities_) trusted_since_ = now;
  trusted_authorities_ = trusted;
  const CertificateStep step = rotation_.Next(
      stored, is_trusted ? std::optional(now - trusted_since_) : std::nullopt, wall_now);
  if (step.is_usable) {
    state.certificates = stored;
  } else {
    state.AddProblem(step.reason);
  }
  state.next = wall_now + (is_trusted ? kCertificateCheckInterval : kRepairInterval);
  if (!step.next) {
    state.next = std::min(state.next, step.at);
  } else if (secret && step.is_urgent && repaired_at_ && now < *repaired_at_ + kRepairInterval) {
    state.error = step.reason +
                  ", again: another program or replica replaces the certificates. Compare the "
                  "clocks of the nodes";
    state.next = wall_now + kRepairInterval;
  } else if (is_leader || step.is_urgent) {
    if (step.is_urgent) repaired_at_ = now;
    StoreSecret(client, secret, step);
    state.next = wall_now;
  }
  return state;
}

/// Stores the CAs in all configurations that have others. Returns whether all have them. A
/// configuration that cannot be changed does not prevent anything else. A replica that is not the
/// leader changes only configurations that do not trust the certificate.
bool CertificateIssuer::MakeAllTrust(const Client& client,
                                     const std::vector<StoredConfiguration>& configurations,
                                     const WebhookCertificates& stored, bool is_leader,
                                     State& state) {
  if (!HasCertificates(stored.authorities) || !HasCertificates(stored.certificate)) return false;
  const std::string ca_bundle = detail::EncodeBase64(stored.authorities);
  bool all_trust = true;
  for (const StoredConfiguration& configuration : configurations) {
    if (configuration.object.is_null() && options_.installs_configurations) continue;
    std::string problem = configuration.WhyUncallable(stored.certificate, options_.clock.WallNow());
    bool has_authorities = !configuration.webhooks.empty() && configuration.Has(ca_bundle);
    const bool is_due = !has_authorities && (is_leader || !problem.empty());
    if (is_due && !configuration.webhooks.empty()) {
      try {
        has_authorities = StoreAuthorities(client, configuration, stored.authorities);
        if (has_authorities) problem.clear();
      } catch (const std::exception& error) {
        if (IsConflictOrStop(error)) throw;
        state.error = error.what();
      }
    }
    state.AddProblem(problem);
    all_trust = all_trust && has_authorities;
  }
  return all_trust;
}

/// Returns false if the configuration is left alone.
bool CertificateIssuer::StoreAuthorities(const Client& client,
                                         const StoredConfiguration& configuration,
                                         const std::string& authorities) {
  if (configuration.IsOfCertManager()) {
    throw ConfigError(configuration.Description() +
                      " gets its CA from cert-manager: remove the annotation, or set "
                      "--webhook-cert-path");
  }
  const json& metadata = configuration.object["metadata"];
  const TimePoint now = options_.clock.Now();
  StoredAuthorities& last = stored_[metadata.value("uid", "")];
  if (last.authorities == authorities && now < last.at + kRepairInterval) return false;
  const std::string ca_bundle = detail::EncodeBase64(authorities);
  json webhooks = json::array();
  for (const json& webhook : configuration.webhooks) {
    webhooks.push_back({{"name", webhook["name"]}, {"clientConfig", {{"caBundle", ca_bundle}}}});
  }
  client.Dynamic(*configuration.kind)
      .Apply({{"metadata",
               {{"name", configuration.name}, {"resourceVersion", metadata["resourceVersion"]}}},
              {"webhooks", std::move(webhooks)}},
             {.field_manager = kCertificateFieldManager});
  last = {.authorities = authorities, .at = now};
  options_.log.Info("Stored the CA of the webhooks",
                    {{"kind", configuration.kind->kind}, {"name", configuration.name}});
  return true;
}

void CertificateIssuer::StoreSecret(const Client& client, std::optional<Secret> secret,
                                    const CertificateStep& step) {
  const bool is_new = !secret;
  if (is_new) {
    const ObjectKey key = CertificateSecretOf(options_.service);
    secret = Secret{.metadata = {.name = key.name, .ns = key.ns}, .type = kSecretType};
  }
  secret->data["ca.crt"] = step.next->authorities;
  secret->data["ca.key"] = step.next->authority_key;
  secret->data["tls.crt"] = step.next->certificate;
  secret->data["tls.key"] = step.next->key;
  if (is_new) {
    client.Create(*secret);
  } else {
    client.Replace(*secret);
  }
  options_.log.Info(
      "Stored the certificates of the webhooks",
      {{"secret", Describe(CertificateSecretOf(options_.service))}, {"reason", step.reason}});
}

}  // namespace kopp
