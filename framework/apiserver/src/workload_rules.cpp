#include "checks.hpp"
#include "rules_by_kind.hpp"

#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Generation = KindRules::Generation;

constexpr const char* kNoMatch = "`selector` does not match template `labels`";
constexpr const char* kTemplateGeneration = "deprecated.daemonset.template.generation";

bool IsEmpty(const Part& selector) {
  return selector["matchLabels"].size() + selector["matchExpressions"].size() == 0;
}

void CheckMatch(const Part& spec, Causes& causes) {
  const Part labels = spec["template"]["metadata"]["labels"];
  if (Selects(spec["selector"], labels)) return;
  causes.push_back(InvalidValue(labels.path(), labels.value(), kNoMatch));
}

/// Pods that are to run for ever.
void CheckLastingTemplate(const Part& spec, const std::string& kind, Causes& causes) {
  const Part pod = spec["template"]["spec"];
  CheckPodTemplate(spec["template"], causes);
  if (!pod["restartPolicy"].is("Always")) {
    causes.push_back(
        NotSupported(pod["restartPolicy"].path(), pod["restartPolicy"].value(), {"Always"}));
  }
  if (pod["activeDeadlineSeconds"].exists()) {
    causes.push_back(ForbiddenField(pod["activeDeadlineSeconds"].path(),
                                    "activeDeadlineSeconds in " + kind + " is not Supported"));
  }
}

/// The selector and the template that it has to match; `kind` as messages name it.
void CheckSelectorAndTemplate(const Part& spec, const std::string& empty_for,
                              const std::string& kind, const std::string& unusable,
                              Causes& causes) {
  const Part selector = spec["selector"];
  bool usable = true;
  if (!selector.exists()) {
    causes.push_back(Required(selector.path(), ""));
  } else {
    usable = CheckSelector(selector, causes);
    if (IsEmpty(selector)) {
      causes.push_back(InvalidShown(selector.path(), ShownSelector(selector),
                                    "empty selector is invalid for " + empty_for));
    }
  }
  if (!usable) {
    causes.push_back(InvalidShown(selector.path(), ShownSelector(selector), unusable));
    return;
  }
  if (!selector.exists() || !IsEmpty(selector)) CheckMatch(spec, causes);
  CheckLastingTemplate(spec, kind, causes);
}

void CheckStrategy(const Part& strategy, Causes& causes) {
  const std::string type = strategy["type"].text();
  const Part rolling = strategy["rollingUpdate"];
  if (type == "Recreate") {
    if (!rolling.exists()) return;
    causes.push_back(
        ForbiddenField(rolling.path(), "may not be specified when strategy `type` is 'Recreate'"));
  } else if (type == "RollingUpdate") {
    const Part unavailable = rolling["maxUnavailable"];
    CheckShare(unavailable, causes);
    CheckShare(rolling["maxSurge"], causes);
    const auto none = [](const Part& share) { return share.is(0) || share.is("0%"); };
    if (none(unavailable) && none(rolling["maxSurge"])) {
      causes.push_back(InvalidValue(unavailable.path(), unavailable.value(),
                                    "may not be 0 when `maxSurge` is 0"));
    }
  } else {
    causes.push_back({"FieldValueNotSupported",
                      "Unsupported value: {\"Type\":" + json(type).dump() +
                          ",\"RollingUpdate\":" + rolling.value().dump() +
                          "}: supported values: \"Recreate\", \"RollingUpdate\"",
                      strategy.path()});
  }
}

void CheckDeployment(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  CheckNotNegative(spec["replicas"], causes);
  CheckSelectorAndTemplate(spec, "deployment", "ReplicaSet", "invalid label selector", causes);
  CheckStrategy(spec["strategy"], causes);
  CheckNotNegative(spec["minReadySeconds"], causes);
  CheckNotNegative(spec["revisionHistoryLimit"], causes);
  const Part deadline = spec["progressDeadlineSeconds"];
  CheckNotNegative(deadline, causes);
  if (deadline.number() <= spec["minReadySeconds"].number()) {
    causes.push_back(
        InvalidValue(deadline.path(), deadline.value(), "must be greater than minReadySeconds"));
  }
}

void CheckReplicaSet(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  CheckNotNegative(spec["replicas"], causes);
  CheckNotNegative(spec["minReadySeconds"], causes);
  CheckSelectorAndTemplate(spec, "deployment", "ReplicaSet", "invalid label selector", causes);
}

void CheckStatefulSet(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part policy = spec["podManagementPolicy"];
  if (!policy.is("OrderedReady") && !policy.is("Parallel")) {
    causes.push_back(
        InvalidValue(policy.path(), policy.value(), "must be 'OrderedReady' or 'Parallel'"));
  }
  CheckNotNegative(spec["replicas"], causes);
  CheckNotNegative(spec["minReadySeconds"], causes);
  if (const Part service = spec["serviceName"]; !service.text().empty()) {
    CheckName(service, &NotADnsLabel, causes);
  }
  CheckSelectorAndTemplate(spec, "statefulset", "StatefulSet", "", causes);
}

void CheckDaemonSet(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part selector = spec["selector"];
  if (CheckSelector(selector, causes)) CheckMatch(spec, causes);
  if (selector.exists() && IsEmpty(selector)) {
    causes.push_back(
        InvalidShown(selector.path(), "{}", "empty selector is invalid for daemonset"));
  }
  CheckLastingTemplate(spec, "DaemonSet", causes);
  CheckNotNegative(spec["minReadySeconds"], causes);
  CheckNotNegative(spec["revisionHistoryLimit"], causes);
}

void CheckReplicationController(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  CheckNotNegative(spec["minReadySeconds"], causes);
  if (spec["selector"].size() == 0) causes.push_back(Required("spec.selector", ""));
  CheckNotNegative(spec["replicas"], causes);
  if (!spec["template"].exists()) {
    causes.push_back(Required("spec.template", ""));
    return;
  }
  const json selector{{"matchLabels", spec["selector"].value()}};
  const Part labels = spec["template"]["metadata"]["labels"];
  if (!Selects(Part(selector), labels)) {
    causes.push_back(InvalidValue(labels.path(), labels.value(), kNoMatch));
  }
  CheckLastingTemplate(spec, "ReplicationController", causes);
}

void CheckSelectorChange(const json& before, const json& after, Causes& causes) {
  const Part is = Part(after)["spec"]["selector"];
  if (is.is(Part(before)["spec"]["selector"].value())) return;
  causes.push_back(
      InvalidShown(is.path(), is.exists() ? ShownSelector(is) : "null", "field is immutable"));
}

void CheckStatefulSetChange(const json& before, const json& after, Causes& causes) {
  json was = before.value("spec", json::object());
  json is = after.value("spec", json::object());
  for (const char* field :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    was.erase(field);
    is.erase(field);
  }
  if (was == is) return;
  causes.push_back(ForbiddenField(
      "spec",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
      "'minReadySeconds' are forbidden"));
}

/// Counts the changes of the template.
void AssignToDaemonSet(World&, const json& before, json& object) {
  json& annotations = object["metadata"]["annotations"];
  if (before.is_null()) {
    annotations[kTemplateGeneration] = "1";
    return;
  }
  const std::string was = Part(before)["metadata"]["annotations"][kTemplateGeneration].text();
  const bool changed =
      !Part(object)["spec"]["template"].is(Part(before)["spec"]["template"].value());
  annotations[kTemplateGeneration] =
      changed && !was.empty() ? std::to_string(std::stoll(was) + 1) : was;
}

}  // namespace

void AddWorkloadRules(RulesByKind& rules) {
  struct Workload {
    const char* kept_as;
    Generation generation;
    void (*check)(const json&, Causes&);
    void (*check_change)(const json&, const json&, Causes&);
  };
  constexpr Workload kWorkloads[] = {
      {"deployments.apps", Generation::kSpecOrAnnotations, &CheckDeployment, &CheckSelectorChange},
      {"replicasets.apps", Generation::kSpec, &CheckReplicaSet, &CheckSelectorChange},
      {"statefulsets.apps", Generation::kSpec, &CheckStatefulSet, &CheckStatefulSetChange},
      {"daemonsets.apps", Generation::kSpec, &CheckDaemonSet, &CheckSelectorChange},
      {"replicationcontrollers", Generation::kSpec, &CheckReplicationController, nullptr},
  };
  for (const auto& [kept_as, generation, check, check_change] : kWorkloads) {
    rules[kept_as].generation = generation;
    rules[kept_as].check = check;
    if (check_change != nullptr) rules[kept_as].check_change = check_change;
  }
  rules["daemonsets.apps"].assign = &AssignToDaemonSet;
  rules["replicationcontrollers"].propagation = "Orphan";
}

}  // namespace kopp::apiserver
