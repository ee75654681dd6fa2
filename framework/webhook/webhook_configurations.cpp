#include "webhook/webhook_configurations.hpp"

#include "base/ascii.hpp"
#include "crd/yaml_writer.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kopp/config_error.hpp>
#include <kopp/informer/detail/names.hpp>
#include <kopp/informer/detail/resource_path.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr Kind kMutatingConfiguration{"admissionregistration.k8s.io/v1",
                                      "MutatingWebhookConfiguration",
                                      "mutatingwebhookconfigurations", Scope::kCluster};
constexpr Kind kValidatingConfiguration{"admissionregistration.k8s.io/v1",
                                        "ValidatingWebhookConfiguration",
                                        "validatingwebhookconfigurations", Scope::kCluster};

constexpr WebhookType kTypes[] = {WebhookType::kMutating, WebhookType::kValidating};

// The suffixes of the names of cert-manager's objects, after the name of the Service.
constexpr const char* kCertificate = "-serving-cert";
constexpr const char* kCertificateSecret = "-server-cert";
constexpr const char* kIssuer = "-selfsigned-issuer";

bool IsMutating(const KindWebhook& webhook) { return webhook.type == WebhookType::kMutating; }

/// Returns the name of a webhook: "mutate.v1.widgets.shop.example.com". Further webhooks of the
/// kind and type have their path in front of it.
std::string NameOf(const KindWebhook& webhook, bool is_first) {
  const Kind kind = webhook.kind;
  std::string prefix;
  if (!is_first) {
    prefix = detail::ToLowerAscii(std::string_view(webhook.path).substr(1)) + '.';
    std::ranges::replace_if(
        prefix, [](char c) { return c == '/' || c == '_'; }, '-');
  }
  return prefix + std::string(IsMutating(webhook) ? "mutate." : "validate.") +
         std::string(kind.version()) + '.' + std::string(kind.plural) + '.' +
         std::string(kind.group().empty() ? "core" : kind.group());
}

/// Returns the name of `webhook` and adds it to `names`. Throws ConfigError if the API server would
/// reject it.
std::string NewName(const KindWebhook& webhook, std::set<std::string>& names) {
  std::string name = NameOf(webhook, /*is_first=*/true);
  if (names.insert(name).second) return name;
  name = NameOf(webhook, /*is_first=*/false);
  if (!ValidateDnsSubdomain(name) && names.insert(name).second) return name;
  throw ConfigError("the webhook with the path " + webhook.path +
                    " has no valid name of its own: use a path such as /validate-foo");
}

json OperationsOf(const KindWebhook& webhook) {
  std::vector<AdmissionOperation> operations = webhook.options.rule.operations;
  if (operations.empty() && webhook.operations) operations = webhook.operations();
  if (operations.empty()) operations = {AdmissionOperation::kCreate, AdmissionOperation::kUpdate};
  json names = json::array();
  for (const AdmissionOperation operation : operations) {
    names.push_back(JsonNameOf(operation));
  }
  return names;
}

json RuleOf(const KindWebhook& webhook) {
  const Kind kind = webhook.kind;
  const auto& resources = webhook.options.rule.resources;
  return {{"apiGroups", {kind.group()}},
          {"apiVersions", {kind.version()}},
          {"resources", resources.empty() ? json{kind.plural} : json(resources)},
          {"operations", OperationsOf(webhook)},
          {"scope", kind.scope == Scope::kCluster ? "Cluster" : "Namespaced"}};
}

/// Returns the namespaceSelector; see PrintWebhooks.
json NamespaceSelectorOf(const KindWebhook& webhook, const std::string& own_namespace) {
  json selector = webhook.options.rule.namespace_selector;
  if (!IsBuiltInGroup(Kind(webhook.kind).group())) return selector;
  selector["matchExpressions"].push_back({{"key", "kubernetes.io/metadata.name"},
                                          {"operator", "NotIn"},
                                          {"values", {"kube-system", own_namespace}}});
  return selector;
}

json WebhookOf(const KindWebhook& webhook, const std::string& name, const ObjectKey& service) {
  const WebhookOptions& options = webhook.options;
  json result{
      {"name", name},
      {"admissionReviewVersions", {"v1"}},
      {"clientConfig",
       {{"service", {{"namespace", service.ns}, {"name", service.name}, {"path", webhook.path}}}}},
      {"rules", {RuleOf(webhook)}},
      {"matchPolicy", JsonNameOf(options.rule.match_policy)},
      {"failurePolicy", JsonNameOf(options.failure_policy)},
      {"sideEffects", JsonNameOf(options.side_effects)},
      {"timeoutSeconds", std::chrono::ceil<std::chrono::seconds>(options.timeout).count()}};
  if (IsMutating(webhook)) result["reinvocationPolicy"] = JsonNameOf(options.reinvocation);
  if (json selector = NamespaceSelectorOf(webhook, service.ns); !selector.empty()) {
    result["namespaceSelector"] = std::move(selector);
  }
  if (json selector = options.rule.object_selector; !selector.empty()) {
    result["objectSelector"] = std::move(selector);
  }
  for (const auto& condition : options.rule.match_conditions) {
    result["matchConditions"].push_back(
        {{"name", condition.name}, {"expression", condition.expression}});
  }
  return result;
}

/// Returns the configuration with the webhooks of one type, or null if there are none.
json NewConfiguration(WebhookType type, const std::vector<KindWebhook>& webhooks,
                      const WebhookManifestOptions& options) {
  json all;
  std::set<std::string> names;
  for (const KindWebhook& webhook : webhooks) {
    if (webhook.type != type) continue;
    all.push_back(WebhookOf(webhook, NewName(webhook, names), options.service));
  }
  if (all.is_null()) return nullptr;
  json metadata{{"name", ConfigurationNameOf(options.service)}};
  if (options.cert_manager) {
    metadata["annotations"] = {{"cert-manager.io/inject-ca-from",
                                options.service.ns + '/' + options.service.name + kCertificate}};
  }
  const Kind& kind = ConfigurationKindOf(type);
  return {{"apiVersion", kind.api_version},
          {"kind", kind.kind},
          {"metadata", std::move(metadata)},
          {"webhooks", std::move(all)}};
}

/// Returns an object of cert-manager.
json CertManagerObject(const char* kind, const char* name, json spec,
                       const WebhookManifestOptions& options) {
  return {{"apiVersion", "cert-manager.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", options.service.name + name}, {"namespace", options.service.ns}}},
          {"spec", std::move(spec)}};
}

std::vector<json> CertManagerObjects(const WebhookManifestOptions& options) {
  const std::string host = ApiServerHostOf(options.service);
  return {CertManagerObject("Issuer", kIssuer, {{"selfSigned", json::object()}}, options),
          CertManagerObject(
              "Certificate", kCertificate,
              {{"dnsNames", {host, host + ".cluster.local"}},
               {"issuerRef", {{"kind", "Issuer"}, {"name", options.service.name + kIssuer}}},
               {"secretName", options.service.name + kCertificateSecret}},
              options)};
}

}  // namespace

std::string ConfigurationNameOf(const ObjectKey& service) {
  return service.name + '.' + service.ns;
}

std::string ApiServerHostOf(const ObjectKey& service) {
  return service.name + '.' + service.ns + ".svc";
}

const Kind& ConfigurationKindOf(WebhookType type) {
  return type == WebhookType::kMutating ? kMutatingConfiguration : kValidatingConfiguration;
}

std::vector<const Kind*> AllConfigurationKinds() {
  return {&kMutatingConfiguration, &kValidatingConfiguration};
}

std::vector<const Kind*> ConfigurationKindsOf(const std::vector<KindWebhook>& webhooks) {
  std::vector<const Kind*> kinds;
  for (const WebhookType type : kTypes) {
    if (std::ranges::count(webhooks, type, &KindWebhook::type) > 0)
      kinds.push_back(&ConfigurationKindOf(type));
  }
  return kinds;
}

std::vector<json> NewConfigurations(const std::vector<KindWebhook>& webhooks,
                                    const WebhookManifestOptions& options) {
  std::vector<json> configurations;
  for (const WebhookType type : kTypes) {
    json configuration = NewConfiguration(type, webhooks, options);
    if (!configuration.is_null()) configurations.push_back(std::move(configuration));
  }
  return configurations;
}

std::string PrintWebhooks(const std::vector<KindWebhook>& webhooks,
                          const WebhookManifestOptions& options) {
  std::vector<json> objects;
  if (options.cert_manager) objects = CertManagerObjects(options);
  std::ranges::move(NewConfigurations(webhooks, options), std::back_inserter(objects));
  std::string text;
  for (const json& object : objects) text += (text.empty() ? "" : "---\n") + WriteYaml(object);
  return text;
}

std::vector<std::string> WebhookWarnings(const std::vector<KindWebhook>& webhooks) {
  std::vector<std::string> warnings;
  for (const KindWebhook& webhook : webhooks) {
    const Kind kind = webhook.kind;
    const bool blocks = webhook.options.failure_policy == WebhookOptions::FailurePolicy::kFail;
    if (!blocks || !kind.group().empty() || kind.plural != "pods") continue;
    warnings.push_back("the webhook " + webhook.path +
                       " has the failure policy Fail: while it cannot be called, no Pod outside of "
                       "kube-system and its own namespace starts; set "
                       "WebhookOptions::failure_policy to kIgnore, or restrict its rule");
  }
  return warnings;
}

}  // namespace kopp
