// The cells of nodes, storage, configuration and permissions.
#include "cells.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json NodeStatus(const json& node, const std::string&) {
  std::string status = "Unknown";
  for (const json& condition : At(node, "/status/conditions")) {
    if (TextAt(condition, "/type") != "Ready") continue;
    status = TextAt(condition, "/status") == "True" ? "Ready" : "NotReady";
  }
  return status + (IsTrueAt(node, "/spec/unschedulable") ? ",SchedulingDisabled" : "");
}

/// By its labels, of two generations.
json Roles(const json& node, const std::string&) {
  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [name, value] : At(node, "/metadata/labels").items()) {
    if (name.starts_with(kRole)) roles.insert(name.substr(kRole.size()));
    if (name == "kubernetes.io/role") roles.insert(value.get<std::string>());
  }
  roles.erase("");
  return Or(Joined({roles.begin(), roles.end()}), "<none>");
}

Cell NodeAddress(const char* type) {
  return [type](const json& node, const std::string&) -> json {
    for (const json& address : At(node, "/status/addresses")) {
      if (TextAt(address, "/type") == type) return TextAt(address, "/address");
    }
    return "<none>";
  };
}

Cell NodeInfo(const std::string& name) { return Text("/status/nodeInfo/" + name, "<unknown>"); }

json Phase(const json& object, const std::string&) {
  return IsBeingDeleted(object) ? "Terminating" : TextAt(object, "/status/phase");
}

std::string AccessModesInWords(const json& modes) {
  constexpr std::pair<const char*, const char*> kShort[] = {{"ReadWriteOnce", "RWO"},
                                                            {"ReadOnlyMany", "ROX"},
                                                            {"ReadWriteMany", "RWX"},
                                                            {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> words;
  for (const auto& [mode, in_short] : kShort) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) words.emplace_back(in_short);
  }
  return Joined(words);
}

/// A claim has them once it is bound.
json ClaimedCapacity(const json& claim, const std::string&) {
  if (TextAt(claim, "/spec/volumeName").empty()) return "";
  return TextAt(claim, "/status/capacity/storage", "0");
}

json ClaimedAccessModes(const json& claim, const std::string&) {
  if (TextAt(claim, "/spec/volumeName").empty()) return "";
  return AccessModesInWords(At(claim, "/status/accessModes"));
}

json AccessModes(const json& volume, const std::string&) {
  return AccessModesInWords(At(volume, "/spec/accessModes"));
}

json StorageClass(const json& object, const std::string&) {
  return TextAt(object, "/metadata/annotations/volume.beta.kubernetes.io~1storage-class",
                TextAt(object, "/spec/storageClassName"));
}

json Claim(const json& volume, const std::string&) {
  const json& claim = At(volume, "/spec/claimRef");
  return claim.is_null() ? "" : TextAt(claim, "/namespace") + '/' + TextAt(claim, "/name");
}

/// "pods: 1/5, …" of what is limited, or of the rest.
Cell Quota(bool of_limits) {
  return [of_limits](const json& quota, const std::string&) {
    std::vector<std::string> words;
    const json used =
        At(quota, "/status/used").is_object() ? At(quota, "/status/used") : json::object();
    for (const auto& [name, hard] : At(quota, "/status/hard").items()) {
      if (name.starts_with("limits") != of_limits) continue;
      words.push_back(name + ": " + used.value(name, "0") + '/' + hard.get<std::string>());
    }
    return Joined(words, ", ");
  };
}

json RoleRef(const json& binding, const std::string&) {
  return TextAt(binding, "/roleRef/kind") + '/' + TextAt(binding, "/roleRef/name");
}

Cell Subjects(const char* kind) {
  return [kind](const json& binding, const std::string&) {
    std::vector<std::string> words;
    for (const json& subject : At(binding, "/subjects")) {
      if (TextAt(subject, "/kind") != kind) continue;
      const std::string ns = TextAt(subject, "/namespace");
      words.push_back((ns.empty() ? "" : ns + '/') + TextAt(subject, "/name"));
    }
    return Joined(words, ", ");
  };
}

}  // namespace

CellsOfKinds ClusterCells() {
  const std::vector<Cell> made{Name(), Text("/metadata/creationTimestamp")};
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
      {"ConfigMap", {Name(), CountOf({"/data", "/binaryData"}), Age()}},
      {"Secret", {Name(), Text("/type"), CountOf({"/data"}), Age()}},
      {"ServiceAccount", {Name(), CountOf({"/secrets"}), Age()}},
      {"LimitRange", made},
      {"ResourceQuota", {Name(), Quota(false), Quota(true), Age()}},
      {"Lease", {Name(), Text("/spec/holderIdentity"), Age()}},
      {"PodDisruptionBudget",
       {Name(), Text("/spec/minAvailable", "N/A"), Text("/spec/maxUnavailable", "N/A"),
        Number("/status/disruptionsAllowed"), Age()}},
      {"Role", made},
      {"ClusterRole", made},
      {"RoleBinding", binding},
      {"ClusterRoleBinding", binding},
      {"CustomResourceDefinition", made},
  };
}

}  // namespace kopp::apiserver
