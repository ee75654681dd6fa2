#include "kinds/workload_validation.hpp"

#include "fields/field_rules.hpp"
#include "fields/volume_rules.hpp"
#include "pods/pod_spec_validation.hpp"
#include "pods/pod_warnings.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Generation = KindStrategy::Generation;

constexpr const char* kSelectorMismatch = "`selector` does not match template `labels`";
constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

bool IsEmptySelector(const FieldRef& selector) {
  return selector["matchLabels"].size() + selector["matchExpressions"].size() == 0;
}

void ValidateSelectorMatchesTemplate(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef labels = spec["template"]["metadata"]["labels"];
  if (SelectorMatches(spec["selector"], labels)) return;
  errors.push_back(InvalidValue(labels.path(), labels.value(), kSelectorMismatch));
}

/// Validates the Pod template of a workload whose Pods always restart.
void ValidateRestartAlwaysTemplate(const FieldRef& spec, const std::string& kind,
                                   FieldErrors& errors) {
  const FieldRef pod = spec["template"]["spec"];
  ValidatePodTemplate(spec["template"], errors);
  if (!pod["restartPolicy"].is("Always")) {
    errors.push_back(
        NotSupported(pod["restartPolicy"].path(), pod["restartPolicy"].value(), {"Always"}));
  }
  if (pod["activeDeadlineSeconds"].exists()) {
    errors.push_back(ForbiddenField(pod["activeDeadlineSeconds"].path(),
                                    "activeDeadlineSeconds in " + kind + " is not Supported"));
  }
}

/// Validates the selector and the template, whose labels it must match. The other parameters are
/// parts of error messages.
void ValidateSelectorAndTemplate(const FieldRef& spec, const std::string& empty_selector_kind,
                                 const std::string& template_kind,
                                 const std::string& invalid_selector, FieldErrors& errors) {
  const FieldRef selector = spec["selector"];
  bool is_valid = true;
  if (!selector.exists()) {
    errors.push_back(Required(selector.path(), ""));
  } else {
    is_valid = ValidateLabelSelector(selector, errors);
    if (IsEmptySelector(selector)) {
      errors.push_back(
          InvalidFormattedValue(selector.path(), SelectorJson(selector),
                                "empty selector is invalid for " + empty_selector_kind));
    }
  }
  if (!is_valid) {
    errors.push_back(
        InvalidFormattedValue(selector.path(), SelectorJson(selector), invalid_selector));
    return;
  }
  if (!selector.exists() || !IsEmptySelector(selector))
    ValidateSelectorMatchesTemplate(spec, errors);
  ValidateRestartAlwaysTemplate(spec, template_kind, errors);
}

/// Returns a number, or that in a percentage or text. Returns 0 for a text that is neither.
double NumberOrPercentage(const FieldRef& value) {
  if (!value.value().is_string()) return static_cast<double>(value.number());
  const std::string text = value.text();
  char* end = nullptr;
  const auto number = static_cast<double>(std::strtoll(text.c_str(), &end, 10));
  const std::string_view rest(end);
  const bool is_percentage = rest == "%" && text.find_first_of("+- ") == std::string::npos;
  const bool is_number = rest.empty() && text.find(' ') == std::string::npos;
  return is_number || is_percentage ? number : 0;
}

void ValidateDeploymentStrategy(const FieldRef& strategy, FieldErrors& errors) {
  const std::string type = strategy["type"].text();
  const FieldRef rolling = strategy["rollingUpdate"];
  if (type == "Recreate") {
    if (!rolling.exists()) return;
    errors.push_back(
        ForbiddenField(rolling.path(), "may not be specified when strategy `type` is 'Recreate'"));
  } else if (type == "RollingUpdate") {
    const FieldRef unavailable = rolling["maxUnavailable"];
    ValidateIntOrPercent(unavailable, errors);
    ValidateIntOrPercent(rolling["maxSurge"], errors);
    if (NumberOrPercentage(unavailable) == 0 && NumberOrPercentage(rolling["maxSurge"]) == 0) {
      errors.push_back(InvalidValue(unavailable.path(), unavailable.value(),
                                    "may not be 0 when `maxSurge` is 0"));
    }
    ValidateAtMost100Percent(unavailable, errors);
  } else {
    errors.push_back({"FieldValueNotSupported",
                      "Unsupported value: {\"Type\":" + json(type).dump() +
                          ",\"RollingUpdate\":" + rolling.value().dump() +
                          "}: supported values: \"Recreate\", \"RollingUpdate\"",
                      strategy.path()});
  }
}

void ValidateDeployment(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateNonNegative(spec["replicas"], errors);
  ValidateSelectorAndTemplate(spec, "deployment", "ReplicaSet", "invalid label selector", errors);
  ValidateDeploymentStrategy(spec["strategy"], errors);
  ValidateNonNegative(spec["minReadySeconds"], errors);
  ValidateNonNegative(spec["revisionHistoryLimit"], errors);
  const FieldRef deadline = spec["progressDeadlineSeconds"];
  ValidateNonNegative(deadline, errors);
  if (deadline.number() <= spec["minReadySeconds"].number()) {
    errors.push_back(
        InvalidValue(deadline.path(), deadline.value(), "must be greater than minReadySeconds"));
  }
}

void ValidateReplicaSet(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateNonNegative(spec["replicas"], errors);
  ValidateNonNegative(spec["minReadySeconds"], errors);
  ValidateSelectorAndTemplate(spec, "deployment", "ReplicaSet", "invalid label selector", errors);
}

/// Returns a StatefulSet whose Pod template has a volume for each template of a claim, in place of
/// volumes with the same name. The StatefulSet sets the host names of its Pods.
json WithClaimVolumes(json set) {
  const json claims = FieldRef(set)["spec"]["volumeClaimTemplates"].value();
  json& spec = set["spec"]["template"]["spec"];
  if (!spec.is_object()) return set;
  for (const char* name : {"hostname", "subdomain"}) spec.erase(name);
  std::set<std::string> names;
  json volumes = json::array();
  for (const FieldRef& claim : FieldRef(claims).items()) {
    const std::string name = claim["metadata"]["name"].text();
    if (!names.insert(name).second) continue;
    volumes.push_back({{"name", name}, {"persistentVolumeClaim", {{"claimName", name}}}});
  }
  for (const FieldRef& volume : FieldRef(spec)["volumes"].items()) {
    if (!names.contains(volume["name"].text())) volumes.push_back(volume.value());
  }
  if (!volumes.empty()) spec["volumes"] = volumes;
  return set;
}

void ValidateStatefulSet(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef policy = spec["podManagementPolicy"];
  if (!policy.is("OrderedReady") && !policy.is("Parallel")) {
    errors.push_back(
        InvalidJson(policy.path(), policy.value(), "must be 'OrderedReady' or 'Parallel'"));
  }
  const FieldRef strategy = spec["updateStrategy"];
  if (!strategy["type"].is("RollingUpdate") && !strategy["type"].is("OnDelete")) {
    errors.push_back(
        InvalidValue(strategy.path(), strategy.value(), "must be 'RollingUpdate' or 'OnDelete'"));
  }
  const FieldRef rolling = strategy["rollingUpdate"];
  if (strategy["type"].is("OnDelete") && rolling.exists()) {
    errors.push_back(InvalidValue(rolling.path(), rolling.value(),
                                  "only allowed for updateStrategy 'RollingUpdate'"));
  }
  ValidateNonNegative(rolling["partition"], errors);
  for (const char* event : {"whenDeleted", "whenScaled"}) {
    const FieldRef retention = spec["persistentVolumeClaimRetentionPolicy"][event];
    if (retention.exists()) ValidateEnum(retention, {"Retain", "Delete"}, errors);
  }
  ValidateNonNegative(spec["replicas"], errors);
  ValidateNonNegative(spec["minReadySeconds"], errors);
  ValidateNonNegative(spec["ordinals"]["start"], errors);
  const bool is_new = !FieldRef(object)["metadata"]["resourceVersion"].exists();
  for (const FieldRef& claim : spec["volumeClaimTemplates"].items()) {
    if (is_new) ValidateClaimSpec(claim["spec"], true, errors);  // they are immutable
  }
  if (is_new && !spec["serviceName"].text().empty())
    ValidateName(spec["serviceName"], &ValidateDnsLabel, errors);
  const json with_claims = WithClaimVolumes(object);
  ValidateSelectorAndTemplate(FieldRef(with_claims)["spec"], "statefulset", "StatefulSet", "",
                              errors);
}

void ValidateControllerRevision(const json& object, FieldErrors& errors) {
  ValidateNonNegative(FieldRef(object)["revision"], errors);
  const FieldRef data = FieldRef(object)["data"];
  if (!data.exists()) {
    errors.push_back(Required("data", "data is mandatory"));
  } else if (!data.value().is_object()) {
    errors.push_back(Required("data", "data must be a valid JSON object"));
  }
}

void ValidateControllerRevisionUpdate(const json& before, const json& after, FieldErrors& errors) {
  ValidateNonNegative(FieldRef(after)["revision"], errors);
  ValidateImmutable(FieldRef(before)["data"], FieldRef(after)["data"], errors);
}

void ValidateDaemonSetStrategy(const FieldRef& strategy, FieldErrors& errors) {
  const FieldRef type = strategy["type"];
  const FieldRef rolling = strategy["rollingUpdate"];
  if (type.is("OnDelete")) return;
  if (!type.is("RollingUpdate")) {
    errors.push_back(
        NotSupported(strategy.path(), strategy.value(), {"RollingUpdate", "OnDelete"}));
    return;
  }
  const FieldRef unavailable = rolling["maxUnavailable"];
  const FieldRef surge = rolling["maxSurge"];
  for (const FieldRef& value : {unavailable, surge}) ValidateIntOrPercentUpTo100(value, errors);
  const bool has_unavailable = NumberOrPercentage(unavailable) != 0;
  const bool has_surge = NumberOrPercentage(surge) != 0;
  if (has_unavailable && has_surge) {
    errors.push_back(InvalidValue(surge.path(), surge.value(),
                                  "may not be set when maxUnavailable is non-zero"));
  } else if (!has_unavailable && !has_surge) {
    errors.push_back(Required(unavailable.path(), "cannot be 0 when maxSurge is 0"));
  }
}

void ValidateDaemonSet(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef selector = spec["selector"];
  if (ValidateLabelSelector(selector, errors)) ValidateSelectorMatchesTemplate(spec, errors);
  if (selector.exists() && IsEmptySelector(selector)) {
    errors.push_back(
        InvalidFormattedValue(selector.path(), "{}", "empty selector is invalid for daemonset"));
  }
  ValidateRestartAlwaysTemplate(spec, "DaemonSet", errors);
  ValidateNonNegative(spec["minReadySeconds"], errors);
  ValidateDaemonSetStrategy(spec["updateStrategy"], errors);
  ValidateNonNegative(spec["revisionHistoryLimit"], errors);
}

void ValidateReplicationController(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateNonNegative(spec["minReadySeconds"], errors);
  if (spec["selector"].size() == 0) errors.push_back(Required("spec.selector", ""));
  ValidateNonNegative(spec["replicas"], errors);
  if (!spec["template"].exists()) {
    errors.push_back(Required("spec.template", ""));
    return;
  }
  const json selector{{"matchLabels", spec["selector"].value()}};
  const FieldRef labels = spec["template"]["metadata"]["labels"];
  if (!SelectorMatches(FieldRef(selector), labels)) {
    errors.push_back(InvalidValue(labels.path(), labels.value(), kSelectorMismatch));
  }
  ValidateRestartAlwaysTemplate(spec, "ReplicationController", errors);
}

void ValidateSelectorUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef selector = FieldRef(after)["spec"]["selector"];
  if (selector.is(FieldRef(before)["spec"]["selector"].value())) return;
  errors.push_back(InvalidFormattedValue(
      selector.path(), selector.exists() ? SelectorJson(selector) : "null", "field is immutable"));
}

void ValidateStatefulSetUpdate(const json& before, const json& after, FieldErrors& errors) {
  json old_spec = before.value("spec", json::object());
  json new_spec = after.value("spec", json::object());
  for (const char* field :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    old_spec.erase(field);
    new_spec.erase(field);
  }
  if (old_spec == new_spec) return;
  errors.push_back(ForbiddenField(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
      "'minReadySeconds' are forbidden"));
}

/// Counts the changes of the template in an annotation.
void AssignDaemonSetFields(ServerContext&, const json& before, json& object) {
  json& annotations = object["metadata"]["annotations"];
  if (before.is_null()) {
    annotations[kTemplateGeneration] = "1";
    return;
  }
  const std::string old_count =
      FieldRef(before)["metadata"]["annotations"][kTemplateGeneration].text();
  const bool changed =
      !FieldRef(object)["spec"]["template"].is(FieldRef(before)["spec"]["template"].value());
  annotations[kTemplateGeneration] =
      changed && !old_count.empty() ? std::to_string(std::stoll(old_count) + 1) : old_count;
}

/// The counts in the status of a kind.
struct StatusCounts {
  const char* storage_resource;
  std::vector<const char*> non_negative;
  std::vector<const char*> at_most_replicas;
  const char* ready = "readyReplicas";  // how error messages name this field
};

void ValidateStatusCounts(const StatusCounts& counts, const json& object, FieldErrors& errors) {
  const FieldRef status = FieldRef(object)["status"];
  for (const char* field : counts.non_negative) ValidateNonNegative(status[field], errors);
  const auto validate_at_most = [&](const FieldRef& count, const FieldRef& max,
                                    const std::string& name) {
    if (count.number() <= max.number()) return;
    errors.push_back(InvalidValue(count.path(), count.value(), "cannot be greater than " + name));
  };
  for (const char* field : counts.at_most_replicas) {
    validate_at_most(status[field], status["replicas"], "status.replicas");
  }
  if (counts.at_most_replicas.empty()) return;
  validate_at_most(status["availableReplicas"], status["readyReplicas"], counts.ready);
}

}  // namespace

void AddWorkloadStrategies(StrategiesByKind& strategies) {
  struct Workload {
    const char* storage_resource;
    Generation generation;
    void (*validate)(const json&, FieldErrors&);
    void (*validate_update)(const json&, const json&, FieldErrors&);
  };
  constexpr Workload kWorkloads[] = {
      {"deployments.apps", Generation::kSpecOrAnnotations, &ValidateDeployment,
       &ValidateSelectorUpdate},
      {"replicasets.apps", Generation::kSpec, &ValidateReplicaSet, &ValidateSelectorUpdate},
      {"statefulsets.apps", Generation::kSpec, &ValidateStatefulSet, &ValidateStatefulSetUpdate},
      {"daemonsets.apps", Generation::kSpec, &ValidateDaemonSet, &ValidateSelectorUpdate},
      {"replicationcontrollers", Generation::kSpec, &ValidateReplicationController, nullptr},
  };
  for (const auto& [storage_resource, generation, validate, validate_update] : kWorkloads) {
    strategies[storage_resource].generation = generation;
    strategies[storage_resource].validate = validate;
    strategies[storage_resource].warn = [](const json& object, Warnings& warnings) {
      WarnAboutLostItems(FieldRef(object)["spec"]["template"]["spec"], warnings);
    };
    if (validate_update != nullptr) strategies[storage_resource].validate_update = validate_update;
  }
  strategies["controllerrevisions.apps"].validate = &ValidateControllerRevision;
  strategies["controllerrevisions.apps"].validate_update = &ValidateControllerRevisionUpdate;
  strategies["controllerrevisions.apps"].update_validation =
      KindStrategy::UpdateValidation::kChange;
  strategies["daemonsets.apps"].update_validation =
      KindStrategy::UpdateValidation::kChangeThenObject;
  strategies["daemonsets.apps"].assign_fields = &AssignDaemonSetFields;
  strategies["replicationcontrollers"].default_propagation = "Orphan";
}

void AddWorkloadStatusStrategies(StrategiesByKind& strategies) {
  static const StatusCounts all[] = {
      {"deployments.apps",
       {"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", "terminatingReplicas", "collisionCount"},
       {"updatedReplicas", "readyReplicas", "availableReplicas"}},
      {"replicasets.apps",
       {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
        "observedGeneration", "terminatingReplicas"},
       {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}},
      {"replicationcontrollers",
       {"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas",
        "observedGeneration"},
       {"fullyLabeledReplicas", "readyReplicas", "availableReplicas"}},
      {"statefulsets.apps",
       {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
        "observedGeneration", "collisionCount"},
       {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
       "status.readyReplicas"},
      {"daemonsets.apps",
       {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
        "observedGeneration", "updatedNumberScheduled", "numberAvailable", "numberUnavailable",
        "collisionCount"},
       {}},
  };
  for (const StatusCounts& counts : all) {
    strategies[counts.storage_resource].validate_status = [&counts](const json& object,
                                                                    FieldErrors& errors) {
      ValidateStatusCounts(counts, object, errors);
    };
  }
}

}  // namespace kopp::apiserver
