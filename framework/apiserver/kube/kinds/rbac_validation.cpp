#include "kinds/rbac_validation.hpp"

#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string rbac_group = "rbac.authorization.k8s.io";

void ValidatePolicyRule(const FieldRef& rule, bool namespaced, FieldErrors& errors) {
  if (rule["verbs"].size() == 0) {
    errors.push_back(Required(rule["verbs"].path(), "verbs must contain at least one value"));
  }
  if (const FieldRef urls = rule["nonResourceURLs"]; urls.size() > 0) {
    if (namespaced) {
      errors.push_back(InvalidValue(urls.path(), urls.value(),
                                    "namespaced rules cannot apply to non-resource URLs"));
    }
    if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
      errors.push_back(InvalidValue(urls.path(), urls.value(),
                                    "rules cannot apply to both regular resources and "
                                    "non-resource URLs"));
    }
    return;
  }
  for (const auto& [list, of] : {std::pair{"apiGroups", "api group"}, {"resources", "resource"}}) {
    if (rule[list].size() > 0) continue;
    errors.push_back(
        Required(rule[list].path(), std::string("resource rules must supply at least one ") + of));
  }
}

template <bool kNamespaced>
void ValidateRole(const json& object, FieldErrors& errors) {
  for (const FieldRef& rule : FieldRef(object)["rules"].items())
    ValidatePolicyRule(rule, kNamespaced, errors);
}

void ValidateClusterRole(const json& object, FieldErrors& errors) {
  ValidateRole<false>(object, errors);
  const FieldRef aggregation = FieldRef(object)["aggregationRule"];
  if (!aggregation.exists()) return;
  const FieldRef selectors = aggregation["clusterRoleSelectors"];
  if (selectors.size() == 0) {
    errors.push_back(Required(selectors.path(),
                              "at least one clusterRoleSelector required if aggregationRule is "
                              "non-nil"));
  }
  for (const FieldRef& selector : selectors.items()) {
    const std::size_t error_count = errors.size();
    ValidateLabelSelector(selector, errors);
    if (errors.size() == error_count) continue;
    errors.push_back(
        InvalidFormattedValue(selector.path(), SelectorJson(selector), "invalid label selector."));
  }
}

void ValidateSubject(const FieldRef& subject, bool namespaced, FieldErrors& errors) {
  const FieldRef name = subject["name"];
  const std::string kind = subject["kind"].text();
  const bool named = ValidateRequired(name, errors);
  if (kind == "ServiceAccount") {
    if (named) ValidateName(name, &ValidateDnsSubdomain, errors);
    if (subject["apiGroup"].exists()) ValidateTextEnum(subject["apiGroup"], {""}, errors);
    if (!namespaced) ValidateRequired(subject["namespace"], errors);
  } else if (kind == "User" || kind == "Group") {
    ValidateTextEnum(subject["apiGroup"], {rbac_group}, errors);
  } else {
    ValidateTextEnum(subject["kind"], {"ServiceAccount", "User", "Group"}, errors);
  }
}

template <bool kNamespaced>
void ValidateRoleBinding(const json& object, FieldErrors& errors) {
  const FieldRef role = FieldRef(object)["roleRef"];
  ValidateTextEnum(role["apiGroup"], {rbac_group}, errors);
  ValidateTextEnum(role["kind"],
                   kNamespaced ? std::vector<std::string>{"Role", "ClusterRole"}
                               : std::vector<std::string>{"ClusterRole"},
                   errors);
  if (ValidateRequired(role["name"], errors))
    ValidateName(role["name"], &ValidatePathSegment, errors);
  for (const FieldRef& subject : FieldRef(object)["subjects"].items()) {
    ValidateSubject(subject, kNamespaced, errors);
  }
}

void ValidateRoleBindingUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef role = FieldRef(after)["roleRef"];
  if (role.is(FieldRef(before)["roleRef"].value())) return;
  errors.push_back(InvalidValue(role.path(), role.value(), "cannot change roleRef"));
}

}  // namespace

void AddRbacStrategies(StrategiesByKind& strategies) {
  for (const char* kind : {"roles", "rolebindings", "clusterroles", "clusterrolebindings"}) {
    KindStrategy& strategy = strategies[std::string(kind) + '.' + rbac_group];
    strategy.validate_name = &ValidatePathSegment;
    strategy.allows_create_on_update = true;
  }
  strategies["roles." + rbac_group].validate = &ValidateRole<true>;
  strategies["clusterroles." + rbac_group].validate = &ValidateClusterRole;
  strategies["rolebindings." + rbac_group].validate = &ValidateRoleBinding<true>;
  strategies["clusterrolebindings." + rbac_group].validate = &ValidateRoleBinding<false>;
  for (const char* kind : {"rolebindings.", "clusterrolebindings."}) {
    strategies[kind + rbac_group].validate_update = &ValidateRoleBindingUpdate;
  }
}

}  // namespace kopp::apiserver
