// The kinds of storage.k8s.io: StorageClasses, CSI drivers and nodes, VolumeAttachments …
#include "kinds/storage_validation.hpp"

#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string storage_group = ".storage.k8s.io";

/// Requires a qualified name, in any case of letters: the name of a driver or provisioner.
void ValidateQualifiedDriverName(const FieldRef& name, FieldErrors& errors) {
  if (!ValidateRequired(name, errors)) return;
  std::string lower = name.text();
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string& detail : ValidateQualifiedName(lower)) {
    errors.push_back(InvalidValue(name.path(), name.text(), detail));
  }
}

void ValidateParameters(const FieldRef& parameters, FieldErrors& errors) {
  for (const std::string& key : parameters.keys()) {
    if (!key.empty()) continue;
    errors.push_back(InvalidValue(parameters.path(), key, "field can not be empty."));
  }
}

void ValidateTopologyTerm(const FieldRef& term, FieldErrors& errors) {
  std::set<std::string> keys;
  for (const FieldRef& expression : term["matchLabelExpressions"].items()) {
    const FieldRef values = expression["values"];
    if (values.size() == 0) errors.push_back(Required(values.path(), ""));
    std::set<std::string> seen;
    for (const FieldRef& value : values.items()) ValidateUnique(value, seen, errors);
    const FieldRef key = expression["key"];
    for (const std::string& detail : ValidateQualifiedName(key.text())) {
      errors.push_back(InvalidValue(key.path(), key.text(), detail));
    }
    ValidateUnique(key, keys, errors);
  }
}

void ValidateStorageClass(const json& object, FieldErrors& errors) {
  const FieldRef storage_class(object);
  ValidateQualifiedDriverName(storage_class["provisioner"], errors);
  ValidateParameters(storage_class["parameters"], errors);
  ValidateEnum(storage_class["reclaimPolicy"], {"Delete", "Retain"}, errors);
  ValidateEnum(storage_class["volumeBindingMode"], {"Immediate", "WaitForFirstConsumer"}, errors);
  for (const FieldRef& term : storage_class["allowedTopologies"].items()) {
    ValidateTopologyTerm(term, errors);
  }
}

/// Forbids a change of the field `name`.
void ForbidUpdate(const json& before, const json& after, const std::string& name,
                  FieldErrors& errors) {
  if (FieldRef(before)[name].is(FieldRef(after)[name].value())) return;
  errors.push_back(ForbiddenField(name, "updates to " + name + " are forbidden."));
}

void ValidateStorageClassUpdate(const json& before, const json& after, FieldErrors& errors) {
  for (const char* field : {"parameters", "provisioner", "reclaimPolicy"}) {
    ForbidUpdate(before, after, field, errors);
  }
  ValidateImmutableJson(FieldRef(before)["volumeBindingMode"], FieldRef(after)["volumeBindingMode"],
                        errors);
}

void ValidateTokenRequests(const FieldRef& requests, FieldErrors& errors) {
  constexpr int kMinSeconds = 600;
  std::set<std::string> audiences;
  for (const FieldRef& request : requests.items()) {
    ValidateUnique(request["audience"], audiences, errors);
    const FieldRef seconds = request["expirationSeconds"];
    if (!seconds.exists() || seconds.number() >= kMinSeconds) continue;
    errors.push_back(InvalidValue(seconds.path(), seconds.value(),
                                  "may not specify a duration less than 10 minutes"));
  }
}

void ValidateCsiDriver(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateEnum(spec["fsGroupPolicy"], {"File", "None", "ReadWriteOnceWithFSType"}, errors);
  ValidateTokenRequests(spec["tokenRequests"], errors);
  const FieldRef modes = spec["volumeLifecycleModes"];
  for (const FieldRef& mode : modes.items()) {
    ValidateEnum(FieldRef(mode.value(), modes.path()), {"Persistent", "Ephemeral"}, errors);
  }
}

void ValidateCsiDriverUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  // kube-apiserver reports this field with another name.
  ValidateImmutable(old_spec["attachRequired"],
                    FieldRef(new_spec["attachRequired"].value(), "spec.attachedRequired"), errors);
  ValidateImmutable(old_spec["volumeLifecycleModes"], new_spec["volumeLifecycleModes"], errors);
}

/// Removes the field of a feature that is disabled by default.
void AssignCsiDriverFields(ServerContext&, const json&, json& driver) {
  driver["spec"].erase("nodeAllocatableUpdatePeriodSeconds");
}

/// Validates the topology keys of a driver. kube-apiserver reports their errors at the driver.
void ValidateTopologyKeys(const FieldRef& driver, FieldErrors& errors) {
  std::set<std::string> seen;
  for (const FieldRef& item : driver["topologyKeys"].items()) {
    const FieldRef key(item.value(), driver.path());
    ValidateUnique(key, seen, errors);
    ValidateRequired(key, errors);
    for (const std::string& detail : ValidateQualifiedName(key.text())) {
      errors.push_back(InvalidValue(key.path(), key.text(), detail));
    }
  }
}

/// Formats a driver of a CSINode as Go does.
std::string FormatDriver(const FieldRef& driver) {
  const FieldRef count = driver["allocatable"]["count"];
  return R"({"Name":)" + driver["name"].value().dump() + R"(,"NodeID":)" +
         driver["nodeID"].value().dump() + R"(,"TopologyKeys":)" +
         driver["topologyKeys"].value().dump() + R"(,"Allocatable":)" +
         (driver["allocatable"].exists() ? R"({"Count":)" + count.value().dump() + '}' : "null") +
         '}';
}

void ValidateCsiNodeUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef drivers = FieldRef(after)["spec"]["drivers"];
  for (const FieldRef& old : FieldRef(before)["spec"]["drivers"].items()) {
    for (const FieldRef& driver : drivers.items()) {
      if (!driver["name"].is(old["name"].value()) || driver.is(old.value())) continue;
      errors.push_back(
          InvalidFormattedValue(drivers.path(), FormatDriver(driver), "field is immutable"));
    }
  }
}

void ValidateCsiNode(const json& object, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& driver : FieldRef(object)["spec"]["drivers"].items()) {
    if (ValidateRequired(driver["name"], errors)) {
      ValidateName(driver["name"], &ValidateDnsSubdomain, errors);
    }
    ValidateRequired(driver["nodeID"], errors);
    ValidateNonNegative(driver["allocatable"]["count"], errors);
    ValidateTopologyKeys(driver, errors);
    ValidateUnique(driver["name"], names, errors);
  }
}

void ValidateVolumeAttachment(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef volume = spec["source"]["persistentVolumeName"];
  ValidateRequired(spec["attacher"], errors);
  if (volume.exists() == spec["source"]["inlineVolumeSpec"].exists()) {
    errors.push_back(
        Required(spec["source"].path(),
                 "must specify exactly one of inlineVolumeSpec and persistentVolumeName"));
  }
  ValidateName(spec["nodeName"], &ValidateDnsSubdomain, errors);
  ValidateRequired(spec["attacher"], errors);  // as kube-apiserver: again
  ValidateName(spec["attacher"], &ValidateDnsSubdomain, errors);
  if (volume.exists()) ValidateName(volume, &ValidateDnsSubdomain, errors);
}

/// Formats the spec as Go does, except for the spec of an inline volume.
std::string FormatAttachmentSpec(const FieldRef& spec) {
  const auto format = [&](const FieldRef& field) { return field.value().dump(); };
  return R"({"Attacher":)" + format(spec["attacher"]) + R"(,"Source":{"PersistentVolumeName":)" +
         format(spec["source"]["persistentVolumeName"]) + R"(,"InlineVolumeSpec":)" +
         format(spec["source"]["inlineVolumeSpec"]) + R"(},"NodeName":)" +
         format(spec["nodeName"]) + '}';
}

void ValidateVolumeAttachmentUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef spec = FieldRef(after)["spec"];
  if (spec.is(FieldRef(before)["spec"].value())) return;
  errors.push_back(
      InvalidFormattedValue(spec.path(), FormatAttachmentSpec(spec), "field is immutable"));
}

constexpr const char* kVacProtectionFinalizer = "kubernetes.io/vac-protection";

void AssignAttributesClassFields(ServerContext&, const json& before, json& attributes_class) {
  if (!before.is_null()) return;
  json& finalizers = attributes_class["metadata"]["finalizers"];
  if (std::find(finalizers.begin(), finalizers.end(), kVacProtectionFinalizer) ==
      finalizers.end()) {
    finalizers.push_back(kVacProtectionFinalizer);
  }
}

void ValidateAttributesClass(const json& object, FieldErrors& errors) {
  const FieldRef attributes_class(object);
  const FieldRef parameters = attributes_class["parameters"];
  ValidateQualifiedDriverName(attributes_class["driverName"], errors);
  if (parameters.size() == 0) {
    errors.push_back(Required(parameters.path(), "must contain at least one key/value pair"));
  }
  ValidateParameters(parameters, errors);
}

void ValidateAttributesClassUpdate(const json& before, const json& after, FieldErrors& errors) {
  ForbidUpdate(before, after, "driverName", errors);
  ForbidUpdate(before, after, "parameters", errors);
}

void ValidateStorageCapacity(const json& object, FieldErrors& errors) {
  const FieldRef capacity(object);
  ValidateLabelSelector(capacity["nodeTopology"], errors);
  ValidateName(capacity["storageClassName"], &ValidateDnsSubdomain, errors);
  const FieldRef size = capacity["capacity"];
  if (size.exists() && k8s::Quantity(size.text()) < k8s::Quantity("0")) {
    errors.push_back(InvalidValue(size.path(), size.value(), "must be greater than or equal to 0"));
  }
}

void ValidateStorageCapacityUpdate(const json& before, const json& after, FieldErrors& errors) {
  for (const char* field : {"nodeTopology", "storageClassName"}) {
    ValidateImmutable(FieldRef(before)[field], FieldRef(after)[field], errors);
  }
}

}  // namespace

void AddStorageStrategies(StrategiesByKind& strategies) {
  for (const char* kind : {"csidrivers", "csinodes", "csistoragecapacities", "volumeattachments"}) {
    strategies[kind + storage_group].allows_unconditional_update = false;
  }
  KindStrategy& classes = strategies["storageclasses" + storage_group];
  classes.validate = &ValidateStorageClass;
  classes.validate_update = &ValidateStorageClassUpdate;
  KindStrategy& drivers = strategies["csidrivers" + storage_group];
  drivers.assign_fields = &AssignCsiDriverFields;
  drivers.validate = &ValidateCsiDriver;
  drivers.validate_update = &ValidateCsiDriverUpdate;
  strategies["csinodes" + storage_group].validate = &ValidateCsiNode;
  strategies["csinodes" + storage_group].validate_update = &ValidateCsiNodeUpdate;
  KindStrategy& attachments = strategies["volumeattachments" + storage_group];
  attachments.status_metadata = KindStrategy::StatusMetadata::kNone;
  attachments.validate = &ValidateVolumeAttachment;
  attachments.validate_update = &ValidateVolumeAttachmentUpdate;
  KindStrategy& attributes = strategies["volumeattributesclasses" + storage_group];
  attributes.protection_finalizer = kVacProtectionFinalizer;
  attributes.assign_fields = &AssignAttributesClassFields;
  attributes.validate = &ValidateAttributesClass;
  attributes.validate_update = &ValidateAttributesClassUpdate;
  KindStrategy& capacities = strategies["csistoragecapacities" + storage_group];
  capacities.validate = &ValidateStorageCapacity;
  capacities.validate_update = &ValidateStorageCapacityUpdate;
}

}  // namespace kopp::apiserver
