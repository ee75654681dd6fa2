#include "webhook/stored_configuration.hpp"

#include "base/base64.hpp"
#include "net/certificate.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <utility>

#include <kopp/config_error.hpp>
#include <kopp/dynamic_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr const char* kApply = ": apply the output of --print-webhooks";

std::vector<detail::Certificate> ReadOrNone(const std::string& pem) {
  try {
    return detail::ReadCertificates(pem);
  } catch (const ConfigError&) {
    return {};
  }
}

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

/// Returns why API servers with this caBundle reject `chain`; "" if they accept it.
std::string WhyRejected(const std::vector<detail::Certificate>& chain, const std::string& ca_bundle,
                        const std::string& host, WallTime now) {
  const auto authorities = ReadOrNone(detail::DecodeBase64(ca_bundle).value_or(""));
  if (authorities.empty()) return "there is no caBundle that can be read";
  return chain.empty() ? "" : detail::WhyRejected(chain, authorities, {host}, now);
}

}  // namespace

std::string StoredConfiguration::Description() const {
  return std::string(kind->kind) + " \"" + name + '"';
}

bool StoredConfiguration::IsOfCertManager() const {
  const json annotations = object["metadata"].value("annotations", json::object());
  return std::ranges::any_of(annotations.items(), [](const auto& annotation) {
    return annotation.key().starts_with(kInjectCa);
  });
}

bool StoredConfiguration::Has(const std::string& ca_bundle) const {
  return std::ranges::all_of(webhooks, [&](const json& webhook) {
    return webhook["clientConfig"].value("caBundle", "") == ca_bundle;
  });
}

std::string StoredConfiguration::AbsenceProblem() const {
  return "there is no " + Description() + kApply;
}

std::string StoredConfiguration::WhyUncallable(const std::string& certificate, WallTime now) const {
  if (object.is_null()) return AbsenceProblem();
  if (webhooks.empty()) {
    return Description() + " has no webhook at the Service " + service.ns + '/' + service.name +
           kApply;
  }
  const auto chain = ReadOrNone(certificate);
  for (const json& webhook : webhooks) {
    const std::string why = WhyRejected(chain, webhook["clientConfig"].value("caBundle", ""),
                                        ApiServerHostOf(service), now);
    if (!why.empty()) return Description() + " does not trust the certificate: " + why;
  }
  return {};
}

std::vector<std::string> StoredConfiguration::MissingWebhooks(
    const std::vector<KindWebhook>& expected) const {
  if (object.is_null()) return {AbsenceProblem()};
  std::vector<std::string> missing;
  for (const KindWebhook& webhook : expected) {
    const bool is_stored = std::ranges::any_of(webhooks, [&](const json& stored) {
      return stored["clientConfig"]["service"].value("path", "/") == webhook.path;
    });
    if (&ConfigurationKindOf(webhook.type) == kind && !is_stored) {
      missing.push_back(Description() + " has no webhook with the path " + webhook.path + kApply);
    }
  }
  return missing;
}

std::vector<StoredConfiguration> ReadConfigurations(const Client& client,
                                                    const std::vector<const Kind*>& kinds,
                                                    const ObjectKey& service) {
  std::vector<StoredConfiguration> all;
  for (const Kind* kind : kinds) {
    StoredConfiguration next{
        .kind = kind, .name = ConfigurationNameOf(service), .service = service};
    if (const auto stored = client.Dynamic(*kind).Get({"", next.name})) {
      next.object = stored->Json();
      next.webhooks = WebhooksOf(next.object, service);
    }
    all.push_back(std::move(next));
  }
  return all;
}

bool HasCertificates(const std::string& pem) { return !ReadOrNone(pem).empty(); }

}  // namespace kopp
