// Webhook configurations.
#include "kinds/webhook_validation.hpp"

#include "crd/webhook_client_validation.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string wildcard = "*";

bool HasSeveralWithWildcard(const FieldRef& list) {
  const json& values = list.value();
  return list.size() > 1 && std::find(values.begin(), values.end(), wildcard) != values.end();
}

/// Requires a list of at least one value, in which "*" stands alone.
void ValidateWildcardList(const FieldRef& list, const std::string& values, FieldErrors& errors) {
  if (list.size() == 0) errors.push_back(Required(list.path(), ""));
  if (HasSeveralWithWildcard(list)) {
    errors.push_back(InvalidValue(list.path(), list.value(),
                                  "if '*' is present, must not specify other " + values));
  }
}

/// Requires that no earlier item of `resources` contains a later one: "pods/*" contains "pods/log".
void ValidateResources(const FieldRef& resources, FieldErrors& errors) {
  if (resources.size() == 0) errors.push_back(Required(resources.path(), ""));
  std::set<std::string> all_subresources_of;
  std::set<std::string> subresources_of_all;
  bool has_plain_resource = false;
  for (const FieldRef& resource : resources.items()) {
    const std::string text = resource.text();
    if (!ValidateRequired(resource, errors)) continue;
    const auto slash = text.find('/');
    if (slash == std::string::npos) {
      has_plain_resource = text != wildcard;  // kube-apiserver considers only the last one
      continue;
    }
    const std::string name = text.substr(0, slash);
    const std::string subresource = text.substr(slash + 1);
    const auto add_contained = [&](const std::string& other) {
      errors.push_back(InvalidValue(resource.path(), text,
                                    "if '" + other + "' is present, must not specify " + text));
    };
    if (all_subresources_of.contains(name)) add_contained(name + "/*");
    if (subresources_of_all.contains(subresource)) add_contained("*/" + subresource);
    if (subresource == wildcard) all_subresources_of.insert(name);
    if (name == wildcard) subresources_of_all.insert(subresource);
  }
  const auto contains = [&](const char* text) {
    return std::find(resources.value().begin(), resources.value().end(), text) !=
           resources.value().end();
  };
  if (resources.size() > 1 && contains("*/*")) {
    errors.push_back(InvalidValue(resources.path(), resources.value(),
                                  "if '*/*' is present, must not specify other resources"));
  }
  if (has_plain_resource && contains("*")) {
    errors.push_back(
        InvalidValue(resources.path(), resources.value(),
                     "if '*' is present, must not specify other resources without subresources"));
  }
}

void ValidateWebhookName(const FieldRef& name, FieldErrors& errors) {
  constexpr int kMinDots = 2;
  if (!ValidateRequired(name, errors)) return;
  const std::string text = name.text();
  if (const NameError detail = ValidateDnsSubdomain(text)) {
    errors.push_back(InvalidValue(name.path(), text, *detail));
  } else if (std::count(text.begin(), text.end(), '.') < kMinDots) {
    errors.push_back(InvalidValue(
        name.path(), text, "should be a domain with at least three segments separated by dots"));
  }
}

void ValidateReviewVersions(const FieldRef& versions, FieldErrors& errors) {
  const std::string accepted = "v1, v1beta1";
  if (versions.size() == 0) {
    errors.push_back(Required(versions.path(), "must specify one of " + accepted));
    return;
  }
  std::set<std::string> seen;
  for (const FieldRef& version : versions.items()) {
    if (seen.insert(version.text()).second) {
      ValidateName(version, &ValidateDns1035Label, errors);
    } else {
      errors.push_back(InvalidValue(version.path(), version.value(), "duplicate version"));
    }
  }
  if (!seen.contains("v1") && !seen.contains("v1beta1")) {
    errors.push_back(InvalidValue(versions.path(), versions.value(),
                                  "must include at least one of " + accepted));
  }
}

/// Requires a value. Unlike a missing value, "" is an unsupported one.
void ValidateSideEffects(const FieldRef& side_effects, FieldErrors& errors) {
  if (side_effects.exists()) return ValidateEnum(side_effects, {"None", "NoneOnDryRun"}, errors);
  errors.push_back(Required(side_effects.path(), "must specify one of None, NoneOnDryRun"));
}

void ValidateWebhook(const FieldRef& webhook, bool mutating, FieldErrors& errors) {
  ValidateWebhookName(webhook["name"], errors);
  for (const FieldRef& rule : webhook["rules"].items()) ValidateRuleWithOperations(rule, errors);
  ValidateEnum(webhook["failurePolicy"], {"Fail", "Ignore"}, errors);
  ValidateEnum(webhook["matchPolicy"], {"Equivalent", "Exact"}, errors);
  ValidateSideEffects(webhook["sideEffects"], errors);
  const FieldRef timeout = webhook["timeoutSeconds"];
  if (timeout.number() < 1 || timeout.number() > 30) {
    errors.push_back(InvalidValue(timeout.path(), timeout.value(),
                                  "the timeout value must be between 1 and 30 seconds"));
  }
  if (mutating) ValidateEnum(webhook["reinvocationPolicy"], {"IfNeeded", "Never"}, errors);
  ValidateLabelSelector(webhook["namespaceSelector"], errors);
  ValidateLabelSelector(webhook["objectSelector"], errors);
  ValidateWebhookClientConfig(webhook["clientConfig"], errors);
  ValidateMatchConditions(webhook["matchConditions"], errors);
  ValidateReviewVersions(webhook["admissionReviewVersions"], errors);
}

template <bool kMutating>
void ValidateWebhookConfiguration(const json& object, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& webhook : FieldRef(object)["webhooks"].items()) {
    ValidateWebhook(webhook, kMutating, errors);
    if (!webhook["name"].text().empty()) ValidateUnique(webhook["name"], names, errors);
  }
}

}  // namespace

void ValidateRuleWithOperations(const FieldRef& rule, FieldErrors& errors) {
  const FieldRef operations = rule["operations"];
  ValidateWildcardList(operations, "operations", errors);
  for (const FieldRef& operation : operations.items()) {
    ValidateEnum(operation, {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}, errors);
  }
  ValidateWildcardList(rule["apiGroups"], "API groups", errors);
  ValidateWildcardList(rule["apiVersions"], "API versions", errors);
  for (const FieldRef& version : rule["apiVersions"].items()) ValidateRequired(version, errors);
  ValidateResources(rule["resources"], errors);
  ValidateEnum(rule["scope"], {"*", "Cluster", "Namespaced"}, errors);
}

void ValidateMatchConditions(const FieldRef& conditions, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& condition : conditions.items()) {
    ValidateRequired(condition["expression"], errors);
    const FieldRef name = condition["name"];
    if (!ValidateRequired(name, errors)) continue;
    for (const std::string& detail : ValidateQualifiedName(name.text())) {
      errors.push_back(InvalidValue(name.path(), name.text(), detail));
    }
    ValidateUnique(name, names, errors);
  }
}

void AddWebhookStrategies(StrategiesByKind& strategies) {
  const std::string group = ".admissionregistration.k8s.io";
  for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    KindStrategy& strategy = strategies[kind + group];
    strategy.generation = KindStrategy::Generation::kSpec;
    strategy.finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
    strategy.allows_unconditional_update = false;
  }
  strategies["mutatingwebhookconfigurations" + group].validate =
      &ValidateWebhookConfiguration<true>;
  strategies["validatingwebhookconfigurations" + group].validate =
      &ValidateWebhookConfiguration<false>;
}

}  // namespace kopp::apiserver
