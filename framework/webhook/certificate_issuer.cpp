#include "webhook/certificate_issuer.hpp"

#include "base/base64.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/config_error.hpp>
#include <kopp/dynamic_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// The type cannot be changed, so it tells kopp's Secret from any other.
constexpr const char* kSecretType = "kopp.dev/webhook-certificates";

/// Finds a clock that was set, and missed events.
constexpr Duration kInterval = std::chrono::minutes(10);

/// The time after which a caBundle that another program has replaced is stored again. Without it,
/// both would write without end.
constexpr Duration kStoreInterval = std::chrono::seconds(10);

/// cert-manager stores its CA in configurations with one of the annotations with this prefix.
constexpr const char* kInjectCa = "cert-manager.io/inject-";

std::string Describe(const ObjectKey& secret) { return secret.ns + '/' + secret.name; }

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
  const std::string& authorities = stored.authorities;
  State state;
  for (const StoredConfiguration& configuration : configurations) {
    if (configuration.webhooks.empty()) {
      state.problem = configuration.Description() + " has no webhook at the Service " +
                      Describe(options_.service) + ": apply the output of --print-webhooks";
    } else if (!authorities.empty()) {
      std::string problem = MakeTrusted(client, configuration, authorities, is_leader);
      if (!problem.empty()) state.problem = configuration.Description() + ' ' + problem;
    }
  }

  const WallTime now = options_.clock.WallNow();
  const std::string trusted = state.problem.empty() ? authorities : "";
  if (trusted != trusted_authorities_) trusted_since_ = now;
  trusted_authorities_ = trusted;
  const CertificateStep step =
      rotation_.Next(stored, trusted.empty() ? std::nullopt : std::optional(trusted_since_), now);
  if (step.is_urgent) {
    state.problem = step.reason;
  } else {
    state.certificates = stored;
  }
  state.next = now + (state.problem.empty() ? kInterval : kStoreInterval);
  if (!step.next) {
    state.next = std::min(state.next, step.at);
  } else if (is_leader || step.is_urgent) {
    Store(client, secret, step);
    state.next = now;
  }
  return state;
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

/// Stores the CAs in the configuration if it has others. Returns why it does not, or "".
std::string CertificateIssuer::MakeTrusted(const Client& client,
                                           const StoredConfiguration& configuration,
                                           const std::string& authorities, bool is_leader) {
  const std::string ca_bundle = detail::EncodeBase64(authorities);
  if (configuration.Has(ca_bundle)) return {};
  if (configuration.IsOfCertManager()) {
    return "gets its CA from cert-manager: remove the annotation, or set --webhook-cert-path";
  }
  if (!is_leader && !configuration.Has("")) return "does not trust the certificate yet";
  const json& metadata = configuration.object["metadata"];
  const WallTime now = options_.clock.WallNow();
  StoredAuthorities& last = stored_[metadata.value("uid", "")];
  if (last.authorities == authorities && now < last.at + kStoreInterval && now >= last.at) {
    return "has another caBundle again: another program replaces it";
  }
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
  return {};
}

void CertificateIssuer::Store(const Client& client, std::optional<Secret> secret,
                              const CertificateStep& step) const {
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
      "Issued certificates for the webhooks",
      {{"secret", Describe(CertificateSecretOf(options_.service))}, {"reason", step.reason}});
}

}  // namespace kopp
