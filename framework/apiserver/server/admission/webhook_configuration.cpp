#include "admission/webhook_configuration.hpp"

#include "base/base64.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string ReviewVersionOf(const json& webhook) {
  for (const std::string& version : StringListField(webhook, "admissionReviewVersions")) {
    if (version == "v1" || version == "v1beta1") return version;
  }
  return "";
}

testing::WebhookCall CallOf(const json& webhook) {
  const json& client = Field(webhook, "clientConfig");
  const json& service = Field(client, "service");
  const std::int64_t port = IntegerAt(service, "/port");
  const std::int64_t seconds = IntegerAt(webhook, "/timeoutSeconds");
  return {.url = StringField(client, "url"),
          .service = {StringField(service, "namespace"), StringField(service, "name")},
          .port = port == 0 ? 443 : static_cast<int>(port),
          .path = StringField(service, "path"),
          .ca_bundle = detail::DecodeBase64(StringField(client, "caBundle")).value_or(""),
          .timeout = std::chrono::seconds(seconds == 0 ? 10 : seconds)};
}

WebhookRule RuleOf(const json& rule) {
  WebhookRule parsed{.operations = StringListField(rule, "operations"),
                     .groups = StringListField(rule, "apiGroups"),
                     .versions = StringListField(rule, "apiVersions")};
  for (const std::string& text : StringListField(rule, "resources")) {
    const auto slash = text.find('/');
    parsed.resources.push_back(
        {text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 1)});
  }
  if (const std::string scope = StringField(rule, "scope"); !scope.empty()) parsed.scope = scope;
  return parsed;
}

std::vector<WebhookRule> RulesOf(const json& webhook) {
  std::vector<WebhookRule> rules;
  for (const json& rule : Field(webhook, "rules")) rules.push_back(RuleOf(rule));
  return rules;
}

ConfiguredWebhook WebhookOf(const json& webhook) {
  return {
      .name = StringField(webhook, "name"),
      .rules = RulesOf(webhook),
      .matches_equivalent = StringField(webhook, "matchPolicy") != "Exact",
      .fails_open = StringField(webhook, "failurePolicy") == "Ignore",
      .reinvoked = StringField(webhook, "reinvocationPolicy") == "IfNeeded",
      .namespace_selector = LabelSelector::Parse(SelectorText(Field(webhook, "namespaceSelector"))),
      .object_selector = LabelSelector::Parse(SelectorText(Field(webhook, "objectSelector"))),
      .review_version = ReviewVersionOf(webhook),
      .call = CallOf(webhook)};
}

}  // namespace

std::shared_ptr<const std::vector<ConfiguredWebhook>> WebhookConfigurations::Get() {
  const unsigned writes = writes_;  // before the read of the store
  if (auto parsed = parsed_.Lock(); parsed->writes == writes) return parsed->webhooks;
  std::vector<ConfiguredWebhook> webhooks;
  for (const auto& [key, stored] : context_.store().List(storage_resource_, "").objects) {
    const json configuration = json::parse(stored->text);
    for (const json& webhook : Field(configuration, "webhooks")) {
      webhooks.push_back(WebhookOf(webhook));
    }
  }
  auto next = std::make_shared<const std::vector<ConfiguredWebhook>>(std::move(webhooks));
  *parsed_.Lock() = {writes, next};
  return next;
}

}  // namespace kopp::apiserver
