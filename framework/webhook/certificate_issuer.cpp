#include "webhook/certificate_issuer.hpp"

#include "base/base64.hpp"
#include "net/certificate.hpp"
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

/// The longest time between two checks. A check notices a clock change or a missed watch event.
constexpr Duration kInterval = std::chrono::minutes(10);

/// The shortest time between two repairs of the same object. Without this limit, two programs that
/// replace each other's values would write without end.
constexpr Duration kRepairInterval = std::chrono::seconds(10);

/// cert-manager stores its CA in configurations with one of the annotations with this prefix.
constexpr const char* kInjectCa = "cert-manager.io/inject-";

std::string Describe(const ObjectKey& secret) { return secret.ns + '/' + secret.name; }

std::vector<detail::Certificate> ReadOrNone(const std::string& pem) {
  try {
    return detail::ReadCertificates(pem);
  } catch (const ConfigError&) {
    return {};
  }
}

/// Returns whether a call failed because another replica was faster, or because of a stop.
bool IsConflictOrStop(const std::exception& error) {
  const auto* const api_error = dynamic_cast<const ApiError*>(&error);
  const auto* const transport_error = dynamic_cast<const TransportError*>(&error);
  return (api_error != nullptr && api_error->IsConflict()) ||
         (transport_error != nullptr &&
          transport_error->kind() == TransportError::Kind::kCancelled);
}

/// Returns the entries of a configuration that lead to `service`.
std::vector<json> WebhooksOf(const json& configuration, const ObjectKey& service) {
  std::vector<json> webhooks;
  for (const json& webhook : configuration.value("webhooks", json::array())) {
    const json& client_config = webhook.at("clientConfig");
    const auto target = client_config.find("service");
    if (target != client_config.end() && target->value("namespace", "") == service.ns &&
        target->value("name", "") == service.name) {
      webhooks.push_back(webhook);
    }
  }
  return webhooks;
}

}  // namespace

struct CertificateIssuer::StoredConfiguration {
  const Kind* kind;
  std::string name;
  json object{};                 // null: there is none
  std::vector<json> webhooks{};  // those of the Service

  [[nodiscard]] std::string Description() const {
    return std::string(kind->kind) + " \"" + name + '"';
  }
  [[nodiscard]] bool IsOfCertManager() const {
    const json annotations = object["metadata"].value("annotations", json::object());
    return std::ranges::any_of(annotations.items(), [](const auto& annotation) {
      return annotation.key().starts_with(kInjectCa);
    });
  }
  [[nodiscard]] bool Has(const std::string& ca_bundle) const {
    return std::ranges::all_of(webhooks, [&](const json& webhook) {
      return webhook["clientConfig"].value("caBundle", "") == ca_bundle;
    });
  }
  /// Returns why API servers with these caBundles reject the certificate; "" if they accept it.
  [[nodiscard]] std::string WhyRejected(const std::string& certificate,
                                        const std::vector<std::string>& hosts, WallTime now) const {
    for (const json& webhook : webhooks) {
      const auto pem = detail::DecodeBase64(webhook["clientConfig"].value("caBundle", ""));
      const auto authorities = ReadOrNone(pem.value_or(""));
      if (authorities.empty()) return "there is no caBundle that can be read";
      std::string why = detail::WhyRejected(ReadOrNone(certificate), authorities, hosts, now);
      if (!why.empty()) return why;
    }
    return {};
  }
};

ObjectKey CertificateSecretOf(const ObjectKey& service) {
  return {service.ns, service.name + "-cert"};
}

std::vector<std::string> HostsOf(const ObjectKey& service) {
  const std::string in_namespace = service.name + '.' + service.ns;
  return {in_namespace + ".svc", in_namespace + ".svc.cluster.local", in_namespace, service.name};
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
  const std::vector<StoredConfiguration> configurations = ReadConfigurations(client);
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
    state.problem = step.reason;
  }
  state.next = wall_now + (is_trusted ? kInterval : kRepairInterval);
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
  if (ReadOrNone(stored.authorities).empty() || ReadOrNone(stored.certificate).empty())
    return false;
  const std::string ca_bundle = detail::EncodeBase64(stored.authorities);
  bool all_trust = true;
  for (const StoredConfiguration& configuration : configurations) {
    if (configuration.webhooks.empty()) {
      state.problem = configuration.Description() + " has no webhook at the Service " +
                      Describe(options_.service) + ": apply the output of --print-webhooks";
      all_trust = false;
      continue;
    }
    std::string problem =
        configuration.WhyRejected(stored.certificate, rotation_.hosts(), options_.clock.WallNow());
    bool has_authorities = configuration.Has(ca_bundle);
    if (!has_authorities && (is_leader || !problem.empty())) {
      try {
        has_authorities = StoreAuthorities(client, configuration, stored.authorities);
        if (has_authorities) problem.clear();
      } catch (const std::exception& error) {
        if (IsConflictOrStop(error)) throw;
        state.error = error.what();
      }
    }
    if (!problem.empty()) {
      state.problem = configuration.Description() + " does not trust the certificate: " + problem;
    }
    all_trust = all_trust && has_authorities;
  }
  return all_trust;
}

std::vector<CertificateIssuer::StoredConfiguration> CertificateIssuer::ReadConfigurations(
    const Client& client) const {
  std::vector<StoredConfiguration> all;
  for (const Kind* kind : options_.configuration_kinds) {
    StoredConfiguration next{.kind = kind, .name = ConfigurationNameOf(options_.service)};
    if (const auto stored = client.Dynamic(*kind).Get({"", next.name})) {
      next.object = stored->Json();
      next.webhooks = WebhooksOf(next.object, options_.service);
    }
    all.push_back(std::move(next));
  }
  return all;
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
