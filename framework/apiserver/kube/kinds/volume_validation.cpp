#include "kinds/volume_validation.hpp"

#include "fields/field_rules.hpp"
#include "fields/volume_rules.hpp"
#include "pods/pod_scheduling_validation.hpp"
#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kPvcProtectionFinalizer = "kubernetes.io/pvc-protection";
constexpr const char* kPvProtectionFinalizer = "kubernetes.io/pv-protection";

void AddFinalizer(json& object, const char* finalizer) {
  json& finalizers = object["metadata"]["finalizers"];
  if (std::find(finalizers.begin(), finalizers.end(), finalizer) == finalizers.end())
    finalizers.push_back(finalizer);
}

bool IsClaimOrSnapshot(const FieldRef& source) {
  const std::string group = source["apiGroup"].text();
  return (group.empty() && source["kind"].is("PersistentVolumeClaim")) ||
         (group == "snapshot.storage.k8s.io" && source["kind"].is("VolumeSnapshot"));
}

/// Returns the newest StorageClass that is marked as the default, or "" if there is none.
std::string DefaultStorageClass(ServerContext& context) {
  std::pair<std::string, std::string> newest;  // creation time and name
  for (const auto& [key, stored] :
       context.store().List("storageclasses.storage.k8s.io", "").objects) {
    const json object = json::parse(stored->text);
    const FieldRef metadata = FieldRef(object)["metadata"];
    constexpr const char* kIsDefault = "storageclass.kubernetes.io/is-default-class";
    if (!metadata["annotations"].Key(kIsDefault).is("true")) continue;
    const std::string created = metadata["creationTimestamp"].text();
    if (created >= newest.first) newest = {created, metadata["name"].text()};
  }
  return newest.second;
}

bool HasDataSource(const FieldRef& spec) {
  return spec["dataSource"].exists() || spec["dataSourceRef"].exists();
}

/// Drops a new data source of an unknown kind, and gives dataSource and dataSourceRef the same
/// value. Sets the finalizer and the default StorageClass of a new claim.
void AssignClaimFields(ServerContext& context, const json& before, json& claim) {
  json& spec = claim["spec"];
  if (before.is_null()) {
    AddFinalizer(claim, kPvcProtectionFinalizer);
    if (!spec.contains("storageClassName")) {
      const std::string name = DefaultStorageClass(context);
      if (!name.empty()) spec["storageClassName"] = name;
    }
  }
  const FieldRef source = FieldRef(spec)["dataSource"];
  const FieldRef reference = FieldRef(spec)["dataSourceRef"];
  if (!HasDataSource(FieldRef(before)["spec"]) && source.exists() && !IsClaimOrSnapshot(source))
    spec.erase("dataSource");
  if (spec.contains("dataSource") && !spec.contains("dataSourceRef")) {
    spec["dataSourceRef"] = spec["dataSource"];
  } else if (reference.exists() && !reference["namespace"].exists() &&
             !spec.contains("dataSource")) {
    spec["dataSource"] = spec["dataSourceRef"];
  }
}

void AssignVolumeFields(ServerContext& context, const json& before, json& volume) {
  if (!before.is_null()) return;
  AddFinalizer(volume, kPvProtectionFinalizer);
  volume["status"]["lastPhaseTransitionTime"] = context.Now();
}

void ValidatePersistentVolumeClaim(const json& object, FieldErrors& errors) {
  const bool is_new = !FieldRef(object)["metadata"]["resourceVersion"].exists();
  ValidateClaimSpec(FieldRef(object)["spec"], is_new, errors);
}

/// Returns the spec without the fields that may change. Those of `other` are for comparison.
json FixedClaimSpec(const json& claim, const json& other) {
  json spec = claim.value("spec", json::object());
  const bool is_bound = FieldRef(other)["status"]["phase"].is("Bound");
  if (FieldRef(other)["spec"]["volumeName"].text().empty()) spec.erase("volumeName");
  if (!is_bound) return spec;
  spec.erase("volumeAttributesClassName");
  if (FieldRef(spec)["resources"]["requests"].exists()) {
    spec["resources"]["requests"].erase("storage");
  }
  return spec;
}

void ValidatePersistentVolumeClaimUpdate(const json& before, const json& after,
                                         FieldErrors& errors) {
  if (FixedClaimSpec(before, before) != FixedClaimSpec(after, before)) {
    errors.push_back(
        ForbiddenField("spec",
                       "spec is immutable after creation except resources.requests and "
                       "volumeAttributesClassName for bound claims\n"));
  }
  const auto requested = [](const json& claim) {
    return FieldRef(claim)["spec"]["resources"]["requests"]["storage"];
  };
  const auto amount = [](const FieldRef& field) {
    return field.exists() ? k8s::Quantity(field.text()) : k8s::Quantity();
  };
  if (amount(requested(after)) < amount(requested(before)) &&
      amount(requested(after)) <= amount(FieldRef(before)["status"]["capacity"]["storage"])) {
    errors.push_back(ForbiddenField("spec.resources.requests.storage",
                                    "field can not be less than status.capacity"));
  }
  ValidateImmutableJson(FieldRef(before)["spec"]["volumeMode"],
                        FieldRef(FieldRef(after)["spec"]["volumeMode"].value(), "volumeMode"),
                        errors);
}

void ValidateCapacity(const FieldRef& capacity, FieldErrors& errors) {
  if (capacity.size() == 0) errors.push_back(Required(capacity.path(), ""));
  if (!capacity.Key("storage").exists() || capacity.size() > 1) {
    errors.push_back(NotSupported(capacity.path(), capacity.value(), {"storage"}));
  }
  for (const std::string& name : capacity.keys()) {
    const FieldRef amount = capacity.Key(name);
    const k8s::Quantity quantity(amount.text());
    if (quantity.IsNegative()) {
      errors.push_back(
          InvalidValue(amount.path(), quantity.Value(), "must be a valid resource quantity"));
    }
    ValidatePositive(amount, amount.path(), errors);
  }
}

/// The fields of a PersistentVolume's spec that are not volume sources.
constexpr std::string_view kVolumeFields[] = {"accessModes",      "capacity",
                                              "claimRef",         "mountOptions",
                                              "nodeAffinity",     "persistentVolumeReclaimPolicy",
                                              "storageClassName", "volumeAttributesClassName",
                                              "volumeMode"};

/// Returns the volume sources: the fields of the spec that are not in kVolumeFields.
json SourcesOf(const json& volume) {
  json sources = volume.value("spec", json::object());
  for (const std::string_view field : kVolumeFields) sources.erase(std::string(field));
  return sources;
}

void ValidateVolumeSources(const json& volume, FieldErrors& errors) {
  const FieldRef spec = FieldRef(volume)["spec"];
  const json sources = SourcesOf(volume);
  if (sources.empty()) errors.push_back(Required(spec.path(), "must specify a volume type"));
  for (const auto& [name, source] : sources.items()) {
    if (name == sources.begin().key()) continue;
    errors.push_back(ForbiddenField(spec[name].path(), "may not specify more than 1 volume type"));
  }
  const FieldRef csi = spec["csi"];
  if (csi.exists()) {
    ValidateDriverName(csi["driver"], errors);
    ValidateRequired(csi["volumeHandle"], errors);
  }
  if (spec["hostPath"].exists()) ValidateHostPath(spec["hostPath"], errors);
  if (spec["local"].exists()) {
    ValidateRequired(spec["local"]["path"], errors);
    ValidateNoBacksteps(spec["local"]["path"], errors);
    if (!spec["nodeAffinity"].exists())
      errors.push_back(
          Required(spec["nodeAffinity"].path(), "Local volume requires node affinity"));
  }
  if (spec["nfs"].exists()) {
    ValidateRequired(spec["nfs"]["server"], errors);
    ValidateRequired(spec["nfs"]["path"], errors);
  }
}

/// Validates the nodes from which a PersistentVolume can be used.
void ValidateVolumeNodeAffinity(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef affinity = spec["nodeAffinity"];
  if (!affinity.exists()) return;
  if (affinity["required"].exists()) return ValidateNodeSelector(affinity["required"], errors);
  errors.push_back(Required(affinity["required"].path(), "must specify required node constraints"));
}

void ValidatePersistentVolume(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateNotEmpty(spec["accessModes"], errors);
  ValidateAccessModes(spec["accessModes"], errors);
  ValidateCapacity(spec["capacity"], errors);
  const FieldRef policy = spec["persistentVolumeReclaimPolicy"];
  if (!policy.text().empty()) ValidateEnum(policy, {"Delete", "Recycle", "Retain"}, errors);
  ValidateVolumeNodeAffinity(spec, errors);
  ValidateVolumeSources(object, errors);
  if (!spec["storageClassName"].text().empty())
    ValidateName(spec["storageClassName"], &ValidateDnsSubdomain, errors);
  ValidateVolumeMode(spec["volumeMode"], errors);
}

/// Returns the node affinity `before` with the stable names that `after` has for beta labels. As in
/// kube-apiserver, an empty key is the stable name of all other labels.
json WithStableLabels(const FieldRef& before, const FieldRef& after) {
  static const std::map<std::string, std::string> stable_labels = {
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
  };
  json affinity = before.value();
  const auto new_terms = after["required"]["nodeSelectorTerms"].items();
  for (std::size_t i = 0; i < new_terms.size(); ++i) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
      const auto requirements = new_terms[i][list].items();
      for (std::size_t j = 0; j < requirements.size(); ++j) {
        const json::json_pointer key(
            fmt::format("/required/nodeSelectorTerms/{}/{}/{}/key", i, list, j));
        if (!affinity.contains(key)) continue;
        const auto stable = stable_labels.find(affinity[key].get<std::string>());
        const std::string new_key = requirements[j]["key"].text();
        if (new_key == (stable == stable_labels.end() ? "" : stable->second))
          affinity[key] = new_key;
      }
    }
  }
  return affinity;
}

void ValidatePersistentVolumeUpdate(const json& before, const json& after, FieldErrors& errors) {
  if (SourcesOf(before) != SourcesOf(after)) {
    errors.push_back(ForbiddenField("spec.persistentvolumesource",
                                    "spec.persistentvolumesource is immutable after creation\n"));
  }
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  ValidateImmutableJson(old_spec["volumeMode"],
                        FieldRef(new_spec["volumeMode"].value(), "volumeMode"), errors);
  const FieldRef affinity = new_spec["nodeAffinity"];
  const FieldRef old_affinity = old_spec["nodeAffinity"];
  if (old_affinity.exists() && WithStableLabels(old_affinity, affinity) != affinity.value()) {
    errors.push_back(InvalidValue("nodeAffinity", affinity.value(),
                                  "field is immutable, except for updating from beta label to GA"));
  }
}

}  // namespace

void AddVolumeStrategies(StrategiesByKind& strategies) {
  KindStrategy& claims = strategies["persistentvolumeclaims"];
  claims.assign_fields = &AssignClaimFields;
  claims.protection_finalizer = kPvcProtectionFinalizer;
  claims.validate = &ValidatePersistentVolumeClaim;
  claims.validate_update = &ValidatePersistentVolumeClaimUpdate;
  KindStrategy& volumes = strategies["persistentvolumes"];
  volumes.assign_fields = &AssignVolumeFields;
  volumes.protection_finalizer = kPvProtectionFinalizer;
  volumes.validate = &ValidatePersistentVolume;
  volumes.validate_update = &ValidatePersistentVolumeUpdate;
}

}  // namespace kopp::apiserver
