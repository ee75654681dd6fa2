#include "admission/webhook_matching.hpp"

#include "api/status.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsNamespace(const Resource& resource) { return resource.storage_resource == "namespaces"; }

/// Returns whether a list of a rule contains `value` or "*".
bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::any_of(values,
                             [&](const std::string& each) { return each == "*" || each == value; });
}

bool MatchesScope(const std::string& scope, const AdmissionAttributes& attributes) {
  if (scope == "*") return true;
  const bool in_namespace = !attributes.target.ns.empty() && !IsNamespace(attributes.resource);
  return in_namespace == (scope == "Namespaced");
}

bool MatchesAnyRule(const ConfiguredWebhook& webhook, const AdmissionAttributes& attributes,
                    const Resource& resource) {
  const auto matches_pattern = [&](const WebhookRule::ResourcePattern& pattern) {
    return (pattern.plural == "*" || pattern.plural == resource.plural) &&
           (pattern.subresource == "*" || pattern.subresource == attributes.target.subresource);
  };
  return std::ranges::any_of(webhook.rules, [&](const WebhookRule& rule) {
    return MatchesScope(rule.scope, attributes) &&
           Contains(rule.operations, attributes.operation) &&
           Contains(rule.groups, resource.group) && Contains(rule.versions, resource.version) &&
           std::ranges::any_of(rule.resources, matches_pattern);
  });
}

/// Returns the served version of the resource that the rules name; nullptr: none. Built-in kinds
/// have one version, so only custom resources have an equivalent one.
ResourcePtr MatchingVersion(ServerContext& context, const ConfiguredWebhook& webhook,
                            const AdmissionAttributes& attributes) {
  const Resource& requested = attributes.resource;
  const auto catalog = context.catalog();
  if (MatchesAnyRule(webhook, attributes, requested)) {
    return catalog->Find(requested.group, requested.version, requested.plural);
  }
  const bool names_group = std::ranges::any_of(webhook.rules, [&](const WebhookRule& rule) {
    return Contains(rule.groups, requested.group);
  });
  if (!webhook.matches_equivalent || requested.built_in || !names_group) return nullptr;
  for (const ResourcePtr& other : catalog->all()) {
    if (other->storage_resource == requested.storage_resource &&
        MatchesAnyRule(webhook, attributes, *other)) {
      return other;
    }
  }
  return nullptr;
}

bool Matches(const LabelSelector& selector, const json& object) {
  std::map<std::string, std::string> labels;
  for (const auto& [key, value] : ValueAt(object, "/metadata/labels").items()) {
    labels[key] = value.get<std::string>();
  }
  return selector.Matches(labels);
}

bool MatchesObject(const ConfiguredWebhook& webhook, const AdmissionAttributes& attributes,
                   const json& object) {
  if (webhook.object_selector.empty()) return true;
  return (!object.is_null() && Matches(webhook.object_selector, object)) ||
         (!attributes.old_object().is_null() &&
          Matches(webhook.object_selector, attributes.old_object()));
}

/// Objects without a namespace always match, except namespaces themselves.
bool MatchesNamespace(ServerContext& context, const ConfiguredWebhook& webhook,
                      const AdmissionAttributes& attributes, const json& object) {
  const LabelSelector& selector = webhook.namespace_selector;
  if (selector.empty()) return true;
  if (IsNamespace(attributes.resource)) {
    return Matches(selector, object.is_null() ? attributes.old_object() : object);
  }
  const std::string& ns = attributes.target.ns;
  if (ns.empty()) return true;
  const StoredObjectPtr stored = context.store().Get("namespaces", {"", ns});
  return stored != nullptr && selector.Matches(stored->attributes.labels);
}

}  // namespace

ResourcePtr VersionFor(ServerContext& context, const ConfiguredWebhook& webhook,
                       const AdmissionAttributes& attributes, const json& object) {
  ResourcePtr version = MatchingVersion(context, webhook, attributes);
  if (version == nullptr || !MatchesObject(webhook, attributes, object)) return nullptr;
  return MatchesNamespace(context, webhook, attributes, object) ? version : nullptr;
}

}  // namespace kopp::apiserver
