#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"
#include "validation/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>

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

/// Returns the QoS class: "Guaranteed" if the limits of all containers equal their requests,
/// "BestEffort" if no container has limits or requests, otherwise "Burstable".
std::string QosClass(const FieldRef& spec) {
  bool guaranteed = true;
  bool best_effort = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const FieldRef& container : spec[list].items()) {
      const FieldRef limits = container["resources"]["limits"];
      const FieldRef requests = container["resources"]["requests"];
      for (const char* name : {"cpu", "memory"}) {
        best_effort &= !limits[name].exists() && !requests[name].exists();
        guaranteed &= limits[name].exists() && limits[name].is(requests[name].value());
      }
    }
  }
  return best_effort ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void AssignPodFields(ServerContext& context, const json& before, json& pod) {
  json& spec = pod["spec"];
  if (before.is_null()) {
    ApplyServiceAccount(context, pod);
    pod["status"] = {{"phase", "Pending"}, {"qosClass", QosClass(FieldRef(pod)["spec"])}};
  }
  AddDefaultTolerations(spec);
  const json old_spec = before.is_null()
                            ? json{{"priority", 0}, {"preemptionPolicy", "PreemptLowerPriority"}}
                            : before.at("spec");
  for (const char* field : {"priority", "preemptionPolicy"}) {
    if (!spec.contains(field) && old_spec.contains(field)) spec[field] = old_spec[field];
  }
}

void ValidateVolumes(const FieldRef& volumes, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& volume : volumes.items()) {
    std::string source;
    for (const std::string& kind : volume.keys()) {
      if (kind == "name") continue;
      // kube-apiserver checks emptyDir among the first types and reports the other one.
      if (!source.empty()) {
        errors.push_back(ForbiddenField(volume[kind == "emptyDir" ? source : kind].path(),
                                        "may not specify more than 1 volume type"));
      }
      source = kind;
    }
    const FieldRef name = volume["name"];
    if (ValidateRequired(name, errors)) ValidateName(name, &ValidateDnsLabel, errors);
    ValidateUnique(name, names, errors);
    if (volume["hostPath"].exists()) ValidateRequired(volume["hostPath"]["path"], errors);
  }
}

void ValidateToleration(const FieldRef& toleration, FieldErrors& errors) {
  const FieldRef key = toleration["key"];
  const FieldRef toleration_operator = toleration["operator"];
  const FieldRef value = toleration["value"];
  const FieldRef effect = toleration["effect"];
  const auto add_invalid = [&](const FieldRef& field, const FieldRef& reported,
                               const std::string& detail) {
    errors.push_back(InvalidValue(field.path(), reported.text(), detail));
  };
  if (!key.text().empty()) {
    for (const std::string& detail : ValidateQualifiedName(key.text()))
      add_invalid(key, key, detail);
  } else if (!toleration_operator.is("Exists")) {
    add_invalid(
        toleration_operator, toleration_operator,
        "operator must be Exists when `key` is empty, which means \"match all values and all "
        "keys\"");
  }
  if (toleration["tolerationSeconds"].exists() && !effect.is("NoExecute")) {
    add_invalid(effect, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (toleration_operator.is("Exists")) {
    if (!value.text().empty()) {
      add_invalid(toleration_operator, value, "value must be empty when `operator` is 'Exists'");
    }
  } else if (toleration_operator.text().empty() || toleration_operator.is("Equal")) {
    if (const NameError detail = ValidateLabelValue(value.text()))
      add_invalid(toleration_operator, value, *detail);
  } else {
    ValidateEnum(toleration_operator, {"Equal", "Exists"}, errors);
  }
  if (!effect.text().empty()) ValidateTaintEffect(effect, errors);
}

void ValidatePod(const json& object, FieldErrors& errors) {
  ValidatePodSpec(FieldRef(object)["spec"], errors);
}

/// Returns `spec` with the mutable fields of `old_spec`.
json WithMutableFieldsFrom(json spec, const json& old_spec) {
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list) || !old_spec.contains(list)) continue;
    json& containers = spec[list];
    for (std::size_t i = 0; i < std::min(containers.size(), old_spec[list].size()); ++i) {
      containers[i]["image"] = old_spec[list][i].value("image", "");
    }
  }
  for (const char* field : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    spec.erase(field);
    if (old_spec.contains(field)) spec[field] = old_spec[field];
  }
  return spec;
}

void ValidatePodUpdate(const json& before, const json& after, FieldErrors& errors) {
  const json old_spec = before.value("spec", json::object());
  const json new_spec = after.value("spec", json::object());
  for (const char* list : {"containers", "initContainers"}) {
    if (FieldRef(new_spec)[list].size() == FieldRef(old_spec)[list].size()) continue;
    errors.push_back(ForbiddenField(std::string("spec.") + list,
                                    "pod updates may not add or remove containers"));
    return;
  }
  if (WithMutableFieldsFrom(new_spec, old_spec) == old_spec) return;
  errors.push_back(ForbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)\n"));
}

}  // namespace

void ValidatePodSpec(const FieldRef& spec, FieldErrors& errors) {
  ValidateVolumes(spec["volumes"], errors);
  ValidateContainers(spec, errors);
  ValidateEnum(spec["restartPolicy"], {"Always", "OnFailure", "Never"}, errors);
  ValidateEnum(spec["dnsPolicy"], {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
               errors);
  ValidateLabels(spec["nodeSelector"], errors);
  const FieldRef security = spec["securityContext"];
  for (const char* id : {"fsGroup", "runAsUser", "runAsGroup"}) ValidateId(security[id], errors);
  for (const FieldRef& group : security["supplementalGroups"].items()) ValidateId(group, errors);
  for (const char* name : {"serviceAccountName", "nodeName"}) {
    if (spec[name].exists()) ValidateName(spec[name], &ValidateDnsSubdomain, errors);
  }
  if (const FieldRef os = spec["os"]; os.exists() && ValidateRequired(os["name"], errors)) {
    // kube-apiserver reports the name at its parent.
    ValidateEnum(FieldRef(os["name"].value(), os.path()), {"linux", "windows"}, errors);
  }
  const FieldRef deadline = spec["activeDeadlineSeconds"];
  if (deadline.exists() && deadline.number() < 1) {
    errors.push_back(InvalidValue(deadline.path(), deadline.value(),
                                  "must be between 1 and 2147483647, inclusive"));
  }
  for (const char* name : {"hostname", "subdomain"}) {
    if (spec[name].exists()) ValidateName(spec[name], &ValidateDnsLabel, errors);
  }
  for (const FieldRef& toleration : spec["tolerations"].items())
    ValidateToleration(toleration, errors);
}

void ValidatePodTemplate(const FieldRef& pod_template, FieldErrors& errors) {
  const FieldRef labels = pod_template["metadata"]["labels"];
  FieldErrors label_errors;
  ValidateLabels(labels, label_errors);
  // kube-apiserver omits "metadata" in these paths.
  const std::string path = pod_template["labels"].path();
  for (FieldError& error : label_errors) {
    error.field = path;
    errors.push_back(std::move(error));
  }
  ValidatePodSpec(pod_template["spec"], errors);
}

void AddPodStrategies(StrategiesByKind& strategies) {
  KindStrategy& pods = strategies["pods"];
  pods.deletes_gracefully = true;
  pods.generation = KindStrategy::Generation::kSpec;
  pods.assign_fields = &AssignPodFields;
  pods.validate = &ValidatePod;
  pods.validate_update = &ValidatePodUpdate;
  pods.warn = [](const json& object, Warnings& warnings) {
    WarnAboutPodSpec(FieldRef(object)["spec"], warnings);
  };
  strategies["podtemplates"].validate = [](const json& object, FieldErrors& errors) {
    ValidatePodTemplate(FieldRef(object)["template"], errors);
  };
  strategies["podtemplates"].generation = KindStrategy::Generation::kSpec;
}

}  // namespace kopp::apiserver
