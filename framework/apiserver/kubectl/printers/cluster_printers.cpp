// The cells of Nodes, Namespaces, storage, configuration and RBAC kinds, and of the kinds of
// storage.k8s.io, scheduling.k8s.io and node.k8s.io.
#include "printers/printers.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json NodeStatus(const json& node, const std::string&) {
  std::string status = "Unknown";
  for (const json& condition : ValueAt(node, "/status/conditions")) {
    if (StringAt(condition, "/type") != "Ready") continue;
    status = StringAt(condition, "/status") == "True" ? "Ready" : "NotReady";
  }
  return status + (IsTrueAt(node, "/spec/unschedulable") ? ",SchedulingDisabled" : "");
}

/// Returns the node's roles, from its labels "node-role.kubernetes.io/ROLE" and
/// "kubernetes.io/role".
json Roles(const json& node, const std::string&) {
  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [name, value] : ValueAt(node, "/metadata/labels").items()) {
    if (name.starts_with(kRole)) roles.insert(name.substr(kRole.size()));
    if (name == "kubernetes.io/role") roles.insert(value.get<std::string>());
  }
  roles.erase("");
  return OrDefault(Join({roles.begin(), roles.end()}), "<none>");
}

Cell NodeAddress(const char* type) {
  return [type](const json& node, const std::string&) -> json {
    for (const json& address : ValueAt(node, "/status/addresses")) {
      if (StringAt(address, "/type") == type) return StringAt(address, "/address");
    }
    return "<none>";
  };
}

Cell NodeInfo(const std::string& name) { return Text("/status/nodeInfo/" + name, "<unknown>"); }

json Phase(const json& object, const std::string&) {
  return IsBeingDeleted(object) ? "Terminating" : StringAt(object, "/status/phase");
}

std::string FormatAccessModes(const json& modes) {
  constexpr std::pair<const char*, const char*> kShort[] = {{"ReadWriteOnce", "RWO"},
                                                            {"ReadOnlyMany", "ROX"},
                                                            {"ReadWriteMany", "RWX"},
                                                            {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> words;
  for (const auto& [mode, abbreviation] : kShort) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end())
      words.emplace_back(abbreviation);
  }
  return Join(words);
}

/// Returns the capacity of a PersistentVolumeClaim, or "" if it is not bound.
json ClaimedCapacity(const json& claim, const std::string&) {
  if (StringAt(claim, "/spec/volumeName").empty()) return "";
  return StringAt(claim, "/status/capacity/storage", "0");
}

json ClaimedAccessModes(const json& claim, const std::string&) {
  if (StringAt(claim, "/spec/volumeName").empty()) return "";
  return FormatAccessModes(ValueAt(claim, "/status/accessModes"));
}

json AccessModes(const json& volume, const std::string&) {
  return FormatAccessModes(ValueAt(volume, "/spec/accessModes"));
}

json StorageClass(const json& object, const std::string&) {
  return StringAt(object, "/metadata/annotations/volume.beta.kubernetes.io~1storage-class",
                  StringAt(object, "/spec/storageClassName"));
}

json Claim(const json& volume, const std::string&) {
  const json& claim = ValueAt(volume, "/spec/claimRef");
  return claim.is_null() ? "" : StringAt(claim, "/namespace") + '/' + StringAt(claim, "/name");
}

/// Returns a Cell that shows used and hard quotas: "pods: 1/5, …". If `limits` is set, it shows the
/// resources named "limits.…", otherwise all others.
Cell Quota(bool limits) {
  return [limits](const json& quota, const std::string&) {
    std::vector<std::string> words;
    const json used = ValueAt(quota, "/status/used").is_object() ? ValueAt(quota, "/status/used")
                                                                 : json::object();
    for (const auto& [name, hard] : ValueAt(quota, "/status/hard").items()) {
      if (name.starts_with("limits") != limits) continue;
      words.push_back(name + ": " + used.value(name, "0") + '/' + hard.get<std::string>());
    }
    return Join(words, ", ");
  };
}

json RoleRef(const json& binding, const std::string&) {
  return StringAt(binding, "/roleRef/kind") + '/' + StringAt(binding, "/roleRef/name");
}

Cell Subjects(const char* kind) {
  return [kind](const json& binding, const std::string&) {
    std::vector<std::string> words;
    for (const json& subject : ValueAt(binding, "/subjects")) {
      if (StringAt(subject, "/kind") != kind) continue;
      const std::string ns = StringAt(subject, "/namespace");
      words.push_back((ns.empty() ? "" : ns + '/') + StringAt(subject, "/name"));
    }
    return Join(words, ", ");
  };
}

Cell Boolean(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return IsTrueAt(object, pointer);
  };
}

/// Returns the name, and whether the class is the default for claims without a class.
json StorageClassName(const json& storage_class, const std::string&) {
  const std::string name = StringAt(storage_class, "/metadata/name");
  for (const char* group : {"storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"}) {
    if (StringAt(storage_class,
                 std::string("/metadata/annotations/") + group + "~1is-default-class") == "true") {
      return name + " (default)";
    }
  }
  return name;
}

json TokenAudiences(const json& driver, const std::string&) {
  const json& requests = ValueAt(driver, "/spec/tokenRequests");
  if (requests.empty()) return "<unset>";
  std::vector<std::string> audiences;
  for (const json& request : requests) audiences.push_back(StringAt(request, "/audience"));
  return Join(audiences);
}

json LifecycleModes(const json& driver, const std::string&) {
  std::vector<std::string> modes;
  for (const json& mode : ValueAt(driver, "/spec/volumeLifecycleModes")) modes.push_back(mode);
  return OrDefault(Join(modes), "<none>");
}

}  // namespace

CellsByKind ClusterCells() {
  const std::vector<Cell> name_and_creation_time{Name(), Text("/metadata/creationTimestamp")};
  const std::vector<Cell> binding{Name(),           RoleRef,           Age(),
                                  Subjects("User"), Subjects("Group"), Subjects("ServiceAccount")};
  const Cell volume_mode = Text("/spec/volumeMode", "<unset>");
  const Cell attributes = Text("/spec/volumeAttributesClassName", "<unset>");
  return {
      {"Namespace", {Name(), Text("/status/phase"), Age()}},
      {"Node",
       {Name(), NodeStatus, Roles, Age(), Text("/status/nodeInfo/kubeletVersion"),
        NodeAddress("InternalIP"), NodeAddress("ExternalIP"), NodeInfo("osImage"),
        NodeInfo("kernelVersion"), NodeInfo("containerRuntimeVersion")}},
      {"PersistentVolumeClaim",
       {Name(), Phase, Text("/spec/volumeName"), ClaimedCapacity, ClaimedAccessModes, StorageClass,
        attributes, Age(), volume_mode}},
      {"PersistentVolume",
       {Name(), Text("/spec/capacity/storage", "0"), AccessModes,
        Text("/spec/persistentVolumeReclaimPolicy"), Phase, Claim, StorageClass, attributes,
        Text("/status/reason"), Age(), volume_mode}},
      {"ConfigMap", {Name(), ItemCount({"/data", "/binaryData"}), Age()}},
      {"Secret", {Name(), Text("/type"), ItemCount({"/data"}), Age()}},
      {"ServiceAccount", {Name(), ItemCount({"/secrets"}), Age()}},
      {"LimitRange", name_and_creation_time},
      {"ResourceQuota", {Name(), Quota(false), Quota(true), Age()}},
      {"Lease", {Name(), Text("/spec/holderIdentity"), Age()}},
      {"PodDisruptionBudget",
       {Name(), Text("/spec/minAvailable", "N/A"), Text("/spec/maxUnavailable", "N/A"),
        Number("/status/disruptionsAllowed"), Age()}},
      {"Role", name_and_creation_time},
      {"ClusterRole", name_and_creation_time},
      {"RoleBinding", binding},
      {"ClusterRoleBinding", binding},
      {"CustomResourceDefinition", name_and_creation_time},
  };
}

CellsByKind StorageCells() {
  return {
      {"StorageClass",
       {StorageClassName, Text("/provisioner"), Text("/reclaimPolicy"), Text("/volumeBindingMode"),
        Boolean("/allowVolumeExpansion"), Age()}},
      {"CSIDriver",
       {Name(), Boolean("/spec/attachRequired"), Boolean("/spec/podInfoOnMount"),
        Boolean("/spec/storageCapacity"), TokenAudiences, Boolean("/spec/requiresRepublish"),
        LifecycleModes, Age()}},
      {"CSINode", {Name(), ItemCount({"/spec/drivers"}), Age()}},
      {"CSIStorageCapacity", {Name(), Text("/metadata/creationTimestamp")}},
      {"VolumeAttachment",
       {Name(), Text("/spec/attacher"), Text("/spec/source/persistentVolumeName"),
        Text("/spec/nodeName"), Boolean("/status/attached"), Age()}},
      {"VolumeAttributesClass", {Name(), Text("/driverName"), Age()}},
      {"PriorityClass",
       {Name(), Number("/value"), Boolean("/globalDefault"), Age(), Text("/preemptionPolicy")}},
      {"RuntimeClass", {Name(), Text("/handler"), Age()}},
  };
}

}  // namespace kopp::apiserver
