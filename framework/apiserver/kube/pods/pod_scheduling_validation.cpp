#include "pods/pod_scheduling_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"

#include <set>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

constexpr const char* kInvalidOperator = "not a valid selector operator";

void ValidateWeight(const FieldRef& weight, FieldErrors& errors) {
  if (weight.number() > 0 && weight.number() <= 100) return;
  errors.push_back(InvalidValue(weight.path(), weight.number(), "must be in the range 1-100"));
}

/// Requires the number of values that the operator of a node selector requirement compares with.
void ValidateNodeOperator(const FieldRef& requirement, FieldErrors& errors) {
  const std::string node_operator = requirement["operator"].text();
  const FieldRef values = requirement["values"];
  if (node_operator == "In" || node_operator == "NotIn") {
    if (values.size() != 0) return;
    errors.push_back(
        Required(values.path(), "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (node_operator == "Exists" || node_operator == "DoesNotExist") {
    if (values.size() == 0) return;
    errors.push_back(ForbiddenField(
        values.path(), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (node_operator == "Gt" || node_operator == "Lt") {
    if (values.size() == 1) return;
    errors.push_back(
        Required(values.path(), "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else {
    errors.push_back(InvalidJson(requirement["operator"].path(), node_operator, kInvalidOperator));
  }
}

/// Validates a requirement on the labels of nodes.
void ValidateNodeRequirement(const FieldRef& requirement, bool validates_values,
                             FieldErrors& errors) {
  ValidateNodeOperator(requirement, errors);
  ValidateQualifiedField(requirement["key"].text(), requirement["key"].path(), errors);
  if (!validates_values) return;
  for (const FieldRef& value : requirement["values"].items())
    ValidateName(value, &ValidateLabelValue, errors);
}

/// Validates a requirement on the fields of nodes: their names.
void ValidateNodeFieldRequirement(const FieldRef& requirement, FieldErrors& errors) {
  const FieldRef field_operator = requirement["operator"];
  const FieldRef values = requirement["values"];
  if (!field_operator.is("In") && !field_operator.is("NotIn")) {
    errors.push_back(InvalidJson(field_operator.path(), field_operator.text(), kInvalidOperator));
  } else if (values.size() != 1) {
    errors.push_back(Required(
        values.path(),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  const FieldRef key = requirement["key"];
  if (!key.is("metadata.name")) {
    errors.push_back(InvalidValue(key.path(), key.text(), "not a valid field selector key"));
    return;
  }
  for (const FieldRef& value : values.items()) ValidateName(value, &ValidateDnsSubdomain, errors);
}

void ValidateNodeTerm(const FieldRef& term, bool validates_values, FieldErrors& errors) {
  for (const FieldRef& requirement : term["matchExpressions"].items())
    ValidateNodeRequirement(requirement, validates_values, errors);
  for (const FieldRef& requirement : term["matchFields"].items())
    ValidateNodeFieldRequirement(requirement, errors);
}

void ValidateNodeAffinity(const FieldRef& affinity, FieldErrors& errors) {
  ValidateNodeSelector(affinity["requiredDuringSchedulingIgnoredDuringExecution"], errors);
  for (const FieldRef& preferred :
       affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
    ValidateWeight(preferred["weight"], errors);
    ValidateNodeTerm(preferred["preference"], /*validates_values=*/false, errors);
  }
}

/// Validates a term of the affinity, or anti-affinity, to other Pods.
void ValidatePodAffinityTerm(const FieldRef& term, FieldErrors& errors) {
  ValidateLabelSelector(term["labelSelector"], errors);
  ValidateLabelSelector(term["namespaceSelector"], errors);
  // kube-apiserver reports namespaces in a field "namespace".
  for (const FieldRef& name : term["namespaces"].items())
    ValidateName(At(name, term["namespace"].path()), &ValidateDnsLabel, errors);
  ValidateMatchLabelKeys(term, errors);
  const FieldRef topology = term["topologyKey"];
  ValidateRequired(topology, errors, "can not be empty");
  ValidateQualifiedField(topology.text(), topology.path(), errors);
}

void ValidatePodAffinity(const FieldRef& affinity, FieldErrors& errors) {
  for (const FieldRef& term : affinity["requiredDuringSchedulingIgnoredDuringExecution"].items())
    ValidatePodAffinityTerm(term, errors);
  for (const FieldRef& preferred :
       affinity["preferredDuringSchedulingIgnoredDuringExecution"].items()) {
    ValidateWeight(preferred["weight"], errors);
    ValidatePodAffinityTerm(preferred["podAffinityTerm"], errors);
  }
}

/// Validates the names of labels. They need a selector to which they are added.
void ValidateLabelKeys(const FieldRef& keys, const FieldRef& selector, FieldErrors& errors) {
  if (keys.size() == 0) return;
  if (!selector.exists()) {
    errors.push_back(
        ForbiddenField(keys.path(), "must not be specified when labelSelector is not set"));
    return;
  }
  for (const FieldRef& key : keys.items()) ValidateQualifiedField(key.text(), key.path(), errors);
}

/// Returns the index of the last item that equals `text`, or -1.
int LastIndexOf(const FieldRef& list, const std::string& text) {
  const std::vector<FieldRef> items = list.items();
  int i = static_cast<int>(items.size()) - 1;
  while (i >= 0 && !items[static_cast<std::size_t>(i)].is(text)) --i;
  return i;
}

/// Rejects a key that the selector has twice: kube-apiserver adds a requirement for each key of
/// matchLabelKeys.
void ValidateSelectorKeys(const FieldRef& owner, FieldErrors& errors) {
  const std::vector<std::string> labels = owner["labelSelector"]["matchLabels"].keys();
  std::set<std::string> seen(labels.begin(), labels.end());
  for (const FieldRef& requirement : owner["labelSelector"]["matchExpressions"].items()) {
    const std::string key = requirement["key"].text();
    const int index = LastIndexOf(owner["matchLabelKeys"], key);
    if (index >= 0 && seen.contains(key)) {
      errors.push_back(InvalidValue(owner.path() + '[' + std::to_string(index) + ']', key,
                                    "exists in both matchLabelKeys and labelSelector"));
    }
    seen.insert(key);
  }
}

/// Requires that no other constraint after `index` has the same key and action.
void ValidateConstraintIsUnique(const std::vector<FieldRef>& constraints, std::size_t index,
                                FieldErrors& errors) {
  const FieldRef& constraint = constraints[index];
  const std::string key = constraint["topologyKey"].text();
  const std::string action = constraint["whenUnsatisfiable"].text();
  for (std::size_t i = index + 1; i < constraints.size(); ++i) {
    if (!constraints[i]["topologyKey"].is(key) || !constraints[i]["whenUnsatisfiable"].is(action))
      continue;
    errors.push_back(Duplicate(constraint["{topologyKey, whenUnsatisfiable}"].path(),
                               '{' + key + ", " + action + '}'));
    return;
  }
}

void ValidateMinDomains(const FieldRef& constraint, FieldErrors& errors) {
  const FieldRef domains = constraint["minDomains"];
  const FieldRef action = constraint["whenUnsatisfiable"];
  if (!domains.exists()) return;
  if (domains.number() <= 0)
    errors.push_back(InvalidValue(domains.path(), domains.value(), "must be greater than zero"));
  if (action.is("DoNotSchedule")) return;
  errors.push_back(InvalidValue(
      domains.path(), domains.value(),
      "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + action.text()));
}

/// Validates the value of a toleration, which kube-apiserver reports at its operator.
void ValidateTolerationValue(const FieldRef& toleration, FieldErrors& errors) {
  const FieldRef toleration_operator = toleration["operator"];
  const std::string value = toleration["value"].text();
  if (toleration_operator.is("Exists")) {
    if (value.empty()) return;
    errors.push_back(InvalidValue(toleration_operator.path(), value,
                                  "value must be empty when `operator` is 'Exists'"));
  } else if (IsUnset(toleration_operator) || toleration_operator.is("Equal")) {
    ValidateName(At(toleration["value"], toleration_operator.path()), &ValidateLabelValue, errors);
  } else {
    ValidateEnum(toleration_operator, {"Equal", "Exists"}, errors);
  }
}

void ValidateToleration(const FieldRef& toleration, FieldErrors& errors) {
  const FieldRef key = toleration["key"];
  const FieldRef toleration_operator = toleration["operator"];
  const FieldRef effect = toleration["effect"];
  if (!IsUnset(key)) {
    ValidateQualifiedField(key.text(), key.path(), errors);
  } else if (!toleration_operator.is("Exists")) {
    errors.push_back(InvalidJson(
        toleration_operator.path(), toleration_operator.text(),
        "operator must be Exists when `key` is empty, which means \"match all values and all "
        "keys\""));
  }
  if (toleration["tolerationSeconds"].exists() && !effect.is("NoExecute")) {
    errors.push_back(InvalidJson(effect.path(), effect.text(),
                                 "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  ValidateTolerationValue(toleration, errors);
  if (!IsUnset(effect)) ValidateTaintEffect(effect, errors);
}

}  // namespace

void ValidateAffinity(const FieldRef& affinity, FieldErrors& errors) {
  ValidateNodeAffinity(affinity["nodeAffinity"], errors);
  ValidatePodAffinity(affinity["podAffinity"], errors);
  ValidatePodAffinity(affinity["podAntiAffinity"], errors);
}

void ValidateNodeSelector(const FieldRef& selector, FieldErrors& errors) {
  const FieldRef terms = selector["nodeSelectorTerms"];
  if (selector.exists() && terms.size() == 0)
    errors.push_back(Required(terms.path(), "must have at least one node selector term"));
  for (const FieldRef& term : terms.items())
    ValidateNodeTerm(term, /*validates_values=*/true, errors);
}

void ValidateMatchLabelKeys(const FieldRef& owner, FieldErrors& errors) {
  const FieldRef selector = owner["labelSelector"];
  const FieldRef mismatched = owner["mismatchLabelKeys"];
  ValidateLabelKeys(owner["matchLabelKeys"], selector, errors);
  ValidateLabelKeys(mismatched, selector, errors);
  if (selector.exists()) ValidateSelectorKeys(owner, errors);
  for (const FieldRef& key : owner["matchLabelKeys"].items()) {
    if (LastIndexOf(mismatched, key.text()) < 0) continue;
    errors.push_back(InvalidValue(key.path(), key.text(),
                                  "exists in both matchLabelKeys and mismatchLabelKeys"));
  }
}

void ValidateTopologySpreadConstraints(const FieldRef& constraints, FieldErrors& errors) {
  const std::vector<FieldRef> items = constraints.items();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const FieldRef& constraint = items[i];
    const FieldRef skew = constraint["maxSkew"];
    if (skew.number() <= 0)
      errors.push_back(InvalidValue(skew.path(), skew.number(), "must be greater than zero"));
    ValidateRequired(constraint["topologyKey"], errors, "can not be empty");
    ValidateEnum(constraint["whenUnsatisfiable"], {"DoNotSchedule", "ScheduleAnyway"}, errors);
    ValidateConstraintIsUnique(items, i, errors);
    ValidateMinDomains(constraint, errors);
    for (const char* policy : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      if (constraint[policy].exists())
        ValidateEnum(constraint[policy], {"Honor", "Ignore"}, errors);
    }
    ValidateMatchLabelKeys(constraint, errors);
    ValidateLabelSelector(constraint["labelSelector"], errors);
  }
}

void ValidateTolerations(const FieldRef& tolerations, FieldErrors& errors) {
  for (const FieldRef& toleration : tolerations.items()) ValidateToleration(toleration, errors);
}

}  // namespace kopp::apiserver
