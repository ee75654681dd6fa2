#include "pods/pod_update_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsSchedulingGated(const json& old_spec) {
  return FieldRef(old_spec)["schedulingGates"].size() > 0;
}

/// Returns `spec` with the fields of `old_spec` that every Pod may change.
json WithMutableFieldsFrom(json spec, const json& old_spec) {
  const auto copy_field = [](json& to, const json& from, const char* field) {
    to.erase(field);
    if (from.contains(field)) to[field] = from[field];
  };
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list) || !old_spec.contains(list)) continue;
    json& containers = spec[list];
    for (std::size_t i = 0; i < std::min(containers.size(), old_spec[list].size()); ++i)
      copy_field(containers[i], old_spec[list][i], "image");
  }
  for (const char* field : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    copy_field(spec, old_spec, field);
  return spec;
}

/// Allows the addition of labels to the node selector of a Pod whose scheduling is gated.
void ValidateNodeSelectorUpdate(const json& old_spec, const json& new_spec, FieldErrors& errors) {
  const FieldRef old_selector = FieldRef(old_spec)["nodeSelector"];
  const FieldRef selector = FieldRef(new_spec, "spec")["nodeSelector"];
  for (const std::string& key : old_selector.keys()) {
    if (selector[key].is(old_selector[key].value())) continue;
    errors.push_back(InvalidValue(
        selector.path(), selector.value(),
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    return;
  }
}

/// Returns whether the items of `before` are the first ones of `after`. An empty list allows any.
bool HasOnlyAdditions(const FieldRef& before, const FieldRef& after) {
  return after.size() >= before.size() &&
         std::equal(before.value().begin(), before.value().end(), after.value().begin());
}

bool NodeTermHasOnlyAdditions(const FieldRef& before, const FieldRef& after) {
  const FieldRef expressions = before["matchExpressions"];
  const FieldRef fields = before["matchFields"];
  const bool was_empty = IsUnset(expressions) && IsUnset(fields);
  const bool is_empty = IsUnset(after["matchExpressions"]) && IsUnset(after["matchFields"]);
  if (was_empty) return is_empty;
  return HasOnlyAdditions(expressions, after["matchExpressions"]) &&
         HasOnlyAdditions(fields, after["matchFields"]);
}

/// Allows the addition of requirements to the node affinity of a Pod whose scheduling is gated.
void ValidateNodeAffinityUpdate(const json& old_spec, const json& new_spec, FieldErrors& errors) {
  const auto terms_of = [](const json& spec) {
    return FieldRef(
        spec, "spec")["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                     ["nodeSelectorTerms"];
  };
  const FieldRef before = terms_of(old_spec);
  const FieldRef after = terms_of(new_spec);
  if (before.size() == 0) return;
  if (before.size() != after.size()) {
    errors.push_back(
        InvalidValue(after.path(), after.value(),
                     "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const FieldRef term = after.items()[i];
    if (NodeTermHasOnlyAdditions(before.items()[i], term)) continue;
    errors.push_back(InvalidValue(term.path(), term.value(),
                                  "only additions are allowed (no mutations or deletions)"));
  }
}

/// Returns `spec` with the fields of `old_spec` that a Pod whose scheduling is gated may change.
json WithGatedFieldsFrom(json spec, const json& old_spec) {
  spec.erase("nodeSelector");
  if (old_spec.contains("nodeSelector")) spec["nodeSelector"] = old_spec["nodeSelector"];
  json affinity = spec.value("affinity", json::object());
  affinity.erase("nodeAffinity");
  const json old_affinity = old_spec.value("affinity", json::object());
  if (old_affinity.contains("nodeAffinity"))
    affinity["nodeAffinity"] = old_affinity["nodeAffinity"];
  spec.erase("affinity");
  if (old_spec.contains("affinity") || !affinity.empty()) spec["affinity"] = affinity;
  return spec;
}

/// Requires that the deadline does not become later. Returns whether the other fields are
/// validated.
bool ValidateDeadlineUpdate(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  if (after.exists()) {
    if (after.number() < 0) {
      ValidateRange(after, 0, std::numeric_limits<std::int32_t>::max(), errors);
      return false;
    }
    if (!before.exists() || before.number() >= after.number()) return true;
    errors.push_back(
        InvalidValue(after.path(), after.number(), "must be less than or equal to previous value"));
    return false;
  }
  if (before.exists()) {
    errors.push_back(InvalidValue(after.path(), nullptr,
                                  "must not update from a positive integer to nil value"));
  }
  return true;
}

/// Allows additions of tolerations, and other values of tolerationSeconds.
void ValidateTolerationsUpdate(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  const auto without_seconds = [](const FieldRef& toleration) {
    json value = toleration.value();
    value.erase("tolerationSeconds");
    return value;
  };
  const std::vector<FieldRef> tolerations = after.items();
  for (const FieldRef& old_toleration : before.items()) {
    const json old_value = without_seconds(old_toleration);
    if (std::any_of(tolerations.begin(), tolerations.end(), [&](const FieldRef& toleration) {
          return without_seconds(toleration) == old_value;
        })) {
      continue;
    }
    errors.push_back(ForbiddenField(
        after.path(), "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
}

/// Allows only the removal of scheduling gates.
void ValidateSchedulingGatesUpdate(const FieldRef& before, const FieldRef& after,
                                   FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& gate : before.items()) names.insert(gate["name"].text());
  for (const FieldRef& gate : after.items()) {
    const std::string name = gate["name"].text();
    if (names.contains(name)) continue;
    errors.push_back(
        ForbiddenField(gate["name"].path(),
                       "only deletion is allowed, but found new scheduling gate '" + name + "'"));
  }
}

/// Requires that an update does not add or remove containers.
bool ValidateContainerCounts(const json& old_spec, const json& new_spec, FieldErrors& errors) {
  for (const char* list : {"containers", "initContainers"}) {
    if (FieldRef(new_spec)[list].size() == FieldRef(old_spec)[list].size()) continue;
    errors.push_back(ForbiddenField(std::string("spec.") + list,
                                    "pod updates may not add or remove containers"));
    return false;
  }
  return true;
}

/// Requires that the fields that a Pod cannot change stay the same.
void ValidateFixedFields(const json& old_spec, const json& new_spec, FieldErrors& errors) {
  json fixed = WithMutableFieldsFrom(new_spec, old_spec);
  if (IsSchedulingGated(old_spec)) {
    ValidateNodeSelectorUpdate(old_spec, new_spec, errors);
    ValidateNodeAffinityUpdate(old_spec, new_spec, errors);
    fixed = WithGatedFieldsFrom(std::move(fixed), old_spec);
  }
  if (fixed == old_spec) return;
  errors.push_back(ForbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)\n"));
}

/// Requires that an update does not change the annotations that select a profile or a mirror Pod.
void ValidateAnnotationsUpdate(const FieldRef& before, const FieldRef& after, FieldErrors& errors) {
  const auto kind_of = [](const std::string& key) -> std::string {
    if (key.starts_with("container.apparmor.security.beta.kubernetes.io/"))
      return "AppArmor annotations";
    return key == "kubernetes.io/config.mirror" ? "mirror pod annotation" : "";
  };
  const auto forbid = [&](const std::string& key, const std::string& verb) {
    const std::string kind = kind_of(key);
    if (!kind.empty())
      errors.push_back(ForbiddenField(after.Key(key).path(), "may not " + verb + ' ' + kind));
  };
  for (const std::string& key : before.keys()) {
    if (!after[key].is(before[key].value())) forbid(key, "remove or update");
  }
  for (const std::string& key : after.keys()) {
    if (!before[key].exists()) forbid(key, "add");
  }
}

}  // namespace

void ValidatePodUpdate(const json& before, const json& after, FieldErrors& errors) {
  const json old_spec = before.value("spec", json::object());
  const json new_spec = after.value("spec", json::object());
  const FieldRef old_pod(old_spec, "spec");
  const FieldRef new_pod(new_spec, "spec");
  ValidateAnnotationsUpdate(FieldRef(before)["metadata"]["annotations"],
                            FieldRef(after)["metadata"]["annotations"], errors);
  if (!ValidateContainerCounts(old_spec, new_spec, errors)) return;
  if (!ValidateDeadlineUpdate(old_pod["activeDeadlineSeconds"], new_pod["activeDeadlineSeconds"],
                              errors)) {
    return;
  }
  ValidateTolerationsUpdate(old_pod["tolerations"], new_pod["tolerations"], errors);
  ValidateSchedulingGatesUpdate(old_pod["schedulingGates"], new_pod["schedulingGates"], errors);
  ValidateFixedFields(old_spec, new_spec, errors);
}

}  // namespace kopp::apiserver
