#include "pods/pod_validation.hpp"

#include "fields/address_validation.hpp"
#include "fields/field_rules.hpp"
#include "pods/container_validation.hpp"
#include "pods/pod_annotation_validation.hpp"
#include "pods/pod_spec_validation.hpp"
#include "pods/pod_update_validation.hpp"
#include "pods/pod_warnings.hpp"
#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kTokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Returns the ServiceAccount of a Pod. An account "default" that does not exist is treated as an
/// empty one, because no controller creates it here. Throws StatusError if another account does not
/// exist.
json GetServiceAccount(ServerContext& context, const json& pod, const std::string& name) {
  const json& metadata = pod.at("metadata");
  const std::string ns = metadata.at("namespace").get<std::string>();
  if (const StoredObjectPtr stored = context.store().Get("serviceaccounts", {ns, name})) {
    return json::parse(stored->text);
  }
  if (name == "default") return json::object();
  Resource pods;
  pods.plural = "pods";
  throw Forbidden(pods, metadata.value("name", ""),
                  "error looking up service account " + ns + '/' + name + ": serviceaccount \"" +
                      name + "\" not found");
}

json ServiceAccountTokenVolume(const std::string& name) {
  const json ns{{"path", "namespace"},
                {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}};
  const json sources{
      {{"serviceAccountToken", {{"expirationSeconds", 3607}, {"path", "token"}}}},
      {{"configMap",
        {{"name", "kube-root-ca.crt"}, {"items", {{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}},
      {{"downwardAPI", {{"items", json::array({ns})}}}}};
  return {{"name", name}, {"projected", {{"sources", sources}, {"defaultMode", 420}}}};
}

/// Mounts the ServiceAccount token into every container that mounts nothing at its path.
void MountServiceAccountToken(ServerContext& context, json& spec) {
  std::string volume_name;
  for (const char* list : {"initContainers", "containers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      json& mounts = container["volumeMounts"];
      const bool mounted = std::any_of(mounts.begin(), mounts.end(), [](const json& mount) {
        return mount.value("mountPath", "") == kTokenMountPath;
      });
      if (mounted) continue;
      if (volume_name.empty()) volume_name = context.GenerateName("kube-api-access-");
      mounts.push_back({{"name", volume_name}, {"readOnly", true}, {"mountPath", kTokenMountPath}});
    }
  }
  if (!volume_name.empty()) {
    spec["volumes"].push_back(ServiceAccountTokenVolume(volume_name));
  }
}

/// Sets the ServiceAccount of a new Pod, like the admission plugin ServiceAccount.
void ApplyServiceAccount(ServerContext& context, json& pod) {
  json& spec = pod["spec"];
  const std::string name = spec.value("serviceAccountName", "default");
  const json service_account = GetServiceAccount(context, pod, name);
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
  constexpr const char* kAutomount = "automountServiceAccountToken";
  if (spec.value(kAutomount, service_account.value(kAutomount, true)))
    MountServiceAccountToken(context, spec);
}

/// Adds the tolerations for nodes that are not ready or unreachable, like the admission plugin
/// DefaultTolerationSeconds.
void AddDefaultTolerations(json& spec) {
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    json& tolerations = spec["tolerations"];
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(), [&](const json& toleration) {
          const std::string effect = toleration.value("effect", "");
          const std::string tolerated_key = toleration.value("key", "");
          return (tolerated_key.empty() || tolerated_key == key) &&
                 (effect.empty() || effect == "NoExecute");
        });
    if (tolerated) continue;
    tolerations.push_back({{"key", key},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", 300}});
  }
}

/// Amounts of cpu and memory.
using ComputeAmounts = std::map<std::string, k8s::Quantity>;

/// Adds the amounts of cpu and memory in `list` that are above zero to `sums`. Returns their
/// number.
std::size_t AddComputeAmounts(const FieldRef& list, ComputeAmounts& sums) {
  std::size_t count = 0;
  for (const char* name : {"cpu", "memory"}) {
    const FieldRef amount = list.Key(name);
    if (!amount.exists()) continue;
    const k8s::Quantity quantity(amount.text());
    if (quantity.IsZero() || quantity.IsNegative()) continue;
    sums[name] += quantity;
    ++count;
  }
  return count;
}

/// Returns the QoS class: "BestEffort" if nothing has limits or requests, "Guaranteed" if each
/// container has limits that equal its requests, otherwise "Burstable". The resources of the whole
/// Pod replace those of its containers.
std::string QosClass(const FieldRef& spec) {
  std::vector<FieldRef> owners;
  if (spec["resources"].exists()) {
    owners.push_back(spec);
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const FieldRef& container : spec[list].items()) owners.push_back(container);
    }
  }
  ComputeAmounts requests;
  ComputeAmounts limits;
  bool has_all_limits = true;
  for (const FieldRef& owner : owners) {
    AddComputeAmounts(owner["resources"]["requests"], requests);
    has_all_limits &= AddComputeAmounts(owner["resources"]["limits"], limits) == 2;
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return has_all_limits && requests == limits ? "Guaranteed" : "Burstable";
}

/// Adds a requirement to the selector of `owner` for each label of the Pod that `keys` names.
void MergeLabelKeys(json& owner, const char* keys, const char* selector_operator,
                    const json& labels) {
  if (!owner.contains(keys) || !owner.contains("labelSelector")) return;
  for (const json& key : owner[keys]) {
    const auto label = labels.find(key.get<std::string>());
    if (label == labels.end()) continue;
    owner["labelSelector"]["matchExpressions"].push_back(
        {{"key", key}, {"operator", selector_operator}, {"values", json::array({*label})}});
  }
}

void MergeLabelKeysOf(json& owner, const json& labels) {
  MergeLabelKeys(owner, "matchLabelKeys", "In", labels);
  MergeLabelKeys(owner, "mismatchLabelKeys", "NotIn", labels);
}

/// Adds matchLabelKeys and mismatchLabelKeys to the selectors of a Pod affinity.
void MergeAffinityLabelKeys(json& affinity, const json& labels) {
  for (auto& [kind, terms] : affinity.items()) {
    for (json& term : terms)
      MergeLabelKeysOf(term.contains("podAffinityTerm") ? term["podAffinityTerm"] : term, labels);
  }
}

/// Adds matchLabelKeys and mismatchLabelKeys to all selectors of a Pod spec.
void MergeAllLabelKeys(json& spec, const json& labels) {
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    const json::json_pointer affinity("/affinity/" + std::string(kind));
    if (spec.contains(affinity)) MergeAffinityLabelKeys(spec[affinity], labels);
  }
  if (!spec.contains("topologySpreadConstraints")) return;
  for (json& constraint : spec["topologySpreadConstraints"]) MergeLabelKeysOf(constraint, labels);
}

/// Sets the AppArmor profiles that annotations select for containers without a profile.
void CopyAppArmorAnnotations(json& pod) {
  json& spec = pod["spec"];
  const FieldRef annotations = FieldRef(pod)["metadata"]["annotations"];
  const json pod_profile = FieldRef(spec)["securityContext"]["appArmorProfile"].value();
  if (FieldRef(spec)["os"]["name"].is("windows")) return;
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      const std::string key =
          "container.apparmor.security.beta.kubernetes.io/" + container.value("name", "");
      const json profile = AppArmorProfileOf(annotations.Key(key).text());
      const bool has_profile = FieldRef(container)["securityContext"]["appArmorProfile"].exists();
      if (has_profile || profile.is_null() || profile == pod_profile) continue;
      container["securityContext"]["appArmorProfile"] = profile;
    }
  }
}

/// Returns the status of a new Pod.
json NewPodStatus(const json& pod, const std::string& now) {
  const FieldRef spec = FieldRef(pod)["spec"];
  json status = {{"phase", "Pending"}, {"qosClass", QosClass(spec)}};
  if (spec["schedulingGates"].size() > 0) {
    status["conditions"] =
        json::array({{{"type", "PodScheduled"},
                      {"status", "False"},
                      {"reason", "SchedulingGated"},
                      {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                      {"lastProbeTime", nullptr},
                      {"lastTransitionTime", now}}});
  }
  return status;
}

void AssignPodFields(ServerContext& context, const json& before, json& pod) {
  json& spec = pod["spec"];
  if (before.is_null()) {
    ApplyServiceAccount(context, pod);
    CopyAppArmorAnnotations(pod);
    MergeAllLabelKeys(spec, pod["metadata"].value("labels", json::object()));
    pod["status"] = NewPodStatus(pod, context.Now());
  }
  AddDefaultTolerations(spec);
  const json old_spec = before.is_null()
                            ? json{{"priority", 0}, {"preemptionPolicy", "PreemptLowerPriority"}}
                            : before.at("spec");
  for (const char* field : {"priority", "preemptionPolicy"}) {
    if (!spec.contains(field) && old_spec.contains(field)) spec[field] = old_spec[field];
  }
}

/// Validates a Pod, new or updated.
void ValidatePod(const json& object, FieldErrors& errors) {
  const FieldRef pod(object);
  const FieldRef spec = pod["spec"];
  ValidatePodAnnotations(pod["metadata"]["annotations"], spec, errors);
  ValidatePodSpec({.spec = spec, .is_pod = true, .pod_name = pod["metadata"]["name"].text()},
                  errors);
  for (const char* list : {"containers", "initContainers"}) {
    for (const FieldRef& container : spec[list].items()) ValidateImagePadding(container, errors);
  }
}

/// Validates what only a new Pod must comply with.
void ValidatePodCreate(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  if (!IsUnset(spec["ephemeralContainers"])) {
    errors.push_back(ForbiddenField(spec["ephemeralContainers"].path(), "cannot be set on create"));
  }
  if (!IsUnset(spec["nodeName"]) && !IsUnset(spec["schedulingGates"])) {
    errors.push_back(ForbiddenField(spec["nodeName"].path(),
                                    "cannot be set until all schedulingGates have been cleared"));
  }
  ValidateProfileAnnotations(FieldRef(object)["metadata"]["annotations"], spec, errors);
}

}  // namespace

void AddPodStrategies(StrategiesByKind& strategies) {
  KindStrategy& pods = strategies["pods"];
  pods.deletes_gracefully = true;
  pods.generation = KindStrategy::Generation::kSpec;
  pods.assign_fields = &AssignPodFields;
  pods.validate = &ValidatePod;
  pods.validate_create = &ValidatePodCreate;
  pods.validate_update = &ValidatePodUpdate;
  pods.warn_status = [](const json& object, Warnings& warnings) {
    for (const char* list : {"podIPs", "hostIPs"}) {
      for (const FieldRef& address : FieldRef(object)["status"][list].items())
        WarnAboutIp(address["ip"], warnings);
    }
  };
  pods.warn_create = [](const json& object, Warnings& warnings) {
    WarnAboutLostItems(FieldRef(object)["spec"], warnings);
  };
  KindStrategy& templates = strategies["podtemplates"];
  templates.validate = [](const json& object, FieldErrors& errors) {
    ValidatePodTemplate(FieldRef(object)["template"], errors);
  };
  templates.warn = [](const json& object, Warnings& warnings) {
    WarnAboutLostItems(FieldRef(object)["template"]["spec"], warnings);
  };
  templates.generation = KindStrategy::Generation::kSpec;
}

}  // namespace kopp::apiserver
