#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"
#include "validation/address_validation.hpp"
#include "validation/kind_strategy.hpp"
#include "validation/pod_spec.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

/// Returns why a label of nodes is deprecated, or "" if it is not.
std::string DeprecationOfNodeLabel(const std::string& label) {
  static const std::map<std::string, const char*, std::less<>> deprecated = {
      {"beta.kubernetes.io/arch", R"(deprecated since v1.14; use "kubernetes.io/arch" instead)"},
      {"beta.kubernetes.io/os", R"(deprecated since v1.14; use "kubernetes.io/os" instead)"},
      {"failure-domain.beta.kubernetes.io/region",
       R"(deprecated since v1.17; use "topology.kubernetes.io/region" instead)"},
      {"failure-domain.beta.kubernetes.io/zone",
       R"(deprecated since v1.17; use "topology.kubernetes.io/zone" instead)"},
      {"beta.kubernetes.io/instance-type",
       R"(deprecated since v1.17; use "node.kubernetes.io/instance-type" instead)"},
      {"app.kubernetes.io/created-by", "deprecated since v1.9"},
      {"scheduler.alpha.kubernetes.io/preferAvoidPods",
       "deprecated since v1.22; use Taints and Tolerations instead"},
      {"node-role.kubernetes.io/master", R"(use "node-role.kubernetes.io/control-plane" instead)"},
  };
  const auto found = deprecated.find(label);
  return found == deprecated.end() ? "" : found->second;
}

void WarnAboutNodeLabel(const FieldRef& key, Warnings& warnings) {
  const std::string deprecation = DeprecationOfNodeLabel(key.text());
  if (!deprecation.empty())
    warnings.push_back(key.path() + ": " + key.text() + " is " + deprecation);
}

/// Warns about a term of a node affinity. Invalid values of preferred terms are only warned about.
void WarnAboutNodeTerm(const FieldRef& term, bool is_preferred, Warnings& warnings) {
  for (const FieldRef& requirement : term["matchExpressions"].items()) {
    WarnAboutNodeLabel(requirement["key"], warnings);
    if (!is_preferred) continue;
    for (const FieldRef& value : requirement["values"].items()) {
      if (const NameError detail = ValidateLabelValue(value.text()))
        warnings.push_back(value.path() + ": " + value.text() + " is invalid, " + *detail);
    }
  }
}

void WarnAboutNullSelector(const FieldRef& selector, Warnings& warnings) {
  if (!selector.exists())
    warnings.push_back(selector.path() + ": a null labelSelector results in matching no pod");
}

void WarnAboutNodeSelection(const FieldRef& spec, Warnings& warnings) {
  const FieldRef selector = spec["nodeSelector"];
  for (const std::string& label : selector.keys()) {
    const std::string deprecation = DeprecationOfNodeLabel(label);
    if (!deprecation.empty()) warnings.push_back(selector.Key(label).path() + ": " + deprecation);
  }
  const FieldRef affinity = spec["affinity"]["nodeAffinity"];
  for (const FieldRef& term :
       affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"].items()) {
    WarnAboutNodeTerm(term, /*is_preferred=*/false, warnings);
  }
  for (const FieldRef& term : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items())
    WarnAboutNodeTerm(term["preference"], /*is_preferred=*/true, warnings);
  for (const FieldRef& constraint : spec["topologySpreadConstraints"].items()) {
    WarnAboutNodeLabel(constraint["topologyKey"], warnings);
    WarnAboutNullSelector(constraint["labelSelector"], warnings);
  }
}

void WarnAboutPodAffinity(const FieldRef& affinity, Warnings& warnings) {
  for (const FieldRef& term : affinity["requiredDuringSchedulingIgnoredDuringExecution"].items())
    WarnAboutNullSelector(term["labelSelector"], warnings);
  for (const FieldRef& term : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items())
    WarnAboutNullSelector(term["podAffinityTerm"]["labelSelector"], warnings);
}

void WarnAboutDeprecatedAnnotations(const FieldRef& annotations, Warnings& warnings) {
  for (const auto& [key, deprecation] :
       {std::pair("scheduler.alpha.kubernetes.io/critical-pod",
                  R"(non-functional in v1.16+; use the "priorityClassName" field instead)"),
        {"security.alpha.kubernetes.io/sysctls",
         R"(non-functional in v1.11+; use the "sysctls" field instead)"},
        {"security.alpha.kubernetes.io/unsafe-sysctls",
         R"(non-functional in v1.11+; use the "sysctls" field instead)"}}) {
    const FieldRef annotation = annotations.Key(key);
    if (annotation.exists()) warnings.push_back(annotation.path() + ": " + deprecation);
  }
}

/// Warns about an annotation that a seccomp profile of the Pod or of a container has replaced.
void WarnAboutSeccompAnnotation(const FieldRef& annotation, const FieldRef& security,
                                Warnings& warnings) {
  if (!annotation.exists() || security["seccompProfile"].exists()) return;
  warnings.push_back(annotation.path() +
                     R"(: non-functional in v1.27+; use the "seccompProfile" field instead)");
}

/// Warns about an annotation that an AppArmor profile of a container has replaced, unless it is
/// the profile of the Pod.
void WarnAboutAppArmorAnnotation(const FieldRef& annotation, const FieldRef& container,
                                 const FieldRef& spec, Warnings& warnings) {
  if (!annotation.exists() || container["securityContext"]["appArmorProfile"].exists()) return;
  const FieldRef pod_profile = spec["securityContext"]["appArmorProfile"];
  if (pod_profile.exists() && pod_profile.is(AppArmorProfileOf(annotation.text()))) return;
  warnings.push_back(annotation.path() +
                     R"(: deprecated since v1.30; use the "appArmorProfile" field instead)");
}

void WarnAboutProfileAnnotations(const FieldRef& annotations, const FieldRef& spec,
                                 Warnings& warnings) {
  WarnAboutSeccompAnnotation(annotations.Key("seccomp.security.alpha.kubernetes.io/pod"),
                             spec["securityContext"], warnings);
  ForEachContainer(spec, [&](const FieldRef& container) {
    const std::string name = container["name"].text();
    WarnAboutSeccompAnnotation(
        annotations.Key("container.seccomp.security.alpha.kubernetes.io/" + name),
        container["securityContext"], warnings);
    WarnAboutAppArmorAnnotation(
        annotations.Key("container.apparmor.security.beta.kubernetes.io/" + name), container, spec,
        warnings);
  });
}

void WarnAboutVolumeKinds(const FieldRef& volume, Warnings& warnings) {
  constexpr const char* kSince22 = "deprecated in v1.22, non-functional in v1.25+";
  constexpr const char* kSince28 = "deprecated in v1.28, non-functional in v1.31+";
  struct Deprecated {
    const char* kind;
    const char* detail;
    const char* reported = nullptr;
  };
  static constexpr Deprecated kAll[] = {
      {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
      {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
      {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
      {"flocker", kSince22},
      {"storageos", kSince22, "storageOS"},
      {"quobyte", kSince22},
      {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
      {"cephfs", kSince28},
      {"rbd", kSince28},
  };
  for (const auto& [kind, detail, reported] : kAll) {
    if (!volume[kind].exists()) continue;
    const std::string path = volume[reported == nullptr ? kind : reported].path();
    warnings.push_back(path + ": " + detail);
  }
}

/// A path that a volume writes, and the name of its source in warnings.
struct VolumePath {
  std::string path{};
  std::string source{};

  [[nodiscard]] std::string ToString() const {
    return '"' + path + '"' + (source.empty() ? "" : " (" + source + ')');
  }
};

/// Returns the paths of the items of a volume or of a projection.
std::vector<VolumePath> PathsOfItems(const FieldRef& items, const std::string& source) {
  std::vector<VolumePath> paths;
  for (const FieldRef& item : items.items()) paths.push_back({item["path"].text(), source});
  return paths;
}

std::vector<VolumePath> PathsOfProjection(const FieldRef& source) {
  const auto named = [](const char* kind, const FieldRef& projection) {
    return std::string(kind) + " \"" + projection["name"].text() + '"';
  };
  const FieldRef map = source["configMap"];
  const FieldRef secret = source["secret"];
  if (map["items"].exists()) return PathsOfItems(map["items"], named("ConfigMap", map));
  if (secret["items"].exists()) return PathsOfItems(secret["items"], named("Secret", secret));
  if (source["downwardAPI"]["items"].exists())
    return PathsOfItems(source["downwardAPI"]["items"], "DownwardAPI");
  const FieldRef token = source["serviceAccountToken"];
  if (!token.exists()) return {};
  return {{token["path"].text(), "ServiceAccountToken"}};
}

bool PathsOverlap(const std::string& a, const std::string& b) {
  return (a + '/').starts_with(b + '/') || (b + '/').starts_with(a + '/');
}

/// Warns about each path that is equal to one before it, or inside of it, or contains it.
void WarnAboutOverlaps(std::vector<VolumePath> paths, const std::string& volume,
                       Warnings& warnings) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string& path = paths[i].path;
    while (path.ends_with('/')) path.pop_back();
    for (std::size_t k = 0; k < i; ++k) {
      if (path.empty() || paths[k].path.empty() || !PathsOverlap(path, paths[k].path)) continue;
      warnings.push_back("volume " + volume + ": overlapping paths: " + paths[i].ToString() +
                         " with " + paths[k].ToString());
    }
  }
}

void WarnAboutProjectedPaths(const FieldRef& volume, Warnings& warnings) {
  const std::string name = '"' + volume["name"].text() + "\" (Projected)";
  std::vector<VolumePath> paths;
  for (const FieldRef& source : volume["projected"]["sources"].items()) {
    if (source.size() == 0) warnings.push_back("volume " + name + " has no sources provided");
    for (VolumePath& path : PathsOfProjection(source)) paths.push_back(std::move(path));
  }
  WarnAboutOverlaps(std::move(paths), name, warnings);
}

void WarnAboutVolumePaths(const FieldRef& volume, Warnings& warnings) {
  const std::string name = '"' + volume["name"].text() + '"';
  const auto warn = [&](const FieldRef& source, const std::string& description) {
    WarnAboutOverlaps(PathsOfItems(source["items"], ""), name + " (" + description + ')', warnings);
  };
  const FieldRef map = volume["configMap"];
  const FieldRef secret = volume["secret"];
  warn(map, "ConfigMap \"" + map["name"].text() + '"');
  warn(secret, "Secret \"" + secret["secretName"].text() + '"');
  warn(volume["downwardAPI"], "DownwardAPI");
  WarnAboutProjectedPaths(volume, warnings);
}

void WarnAboutVolumes(const FieldRef& volumes, Warnings& warnings) {
  for (const FieldRef& volume : volumes.items()) {
    WarnAboutVolumeKinds(volume, warnings);
    const FieldRef claim = volume["ephemeral"]["volumeClaimTemplate"]["spec"]["resources"];
    for (const char* kind : {"requests", "limits"})
      WarnAboutFractionalBytes(claim[kind].Key("storage"), warnings);
    WarnAboutVolumePaths(volume, warnings);
  }
}

/// Warns about items that have the same value in a field.
void WarnAboutDuplicates(const FieldRef& list, const char* field, Warnings& warnings) {
  std::set<std::string> seen;
  for (const FieldRef& item : list.items()) {
    const FieldRef value = item[field];
    if (!seen.insert(value.text()).second) {
      warnings.push_back(value.path() + ": duplicate " + field + ' ' + GoQuoted(value.text()));
    }
  }
}

void WarnAboutPullSecrets(const FieldRef& secrets, Warnings& warnings) {
  WarnAboutDuplicates(secrets, "name", warnings);
  for (const FieldRef& secret : secrets.items()) {
    if (IsUnset(secret["name"]))
      warnings.push_back(secret["name"].path() + ": invalid empty name \"\"");
  }
}

/// Warns about a variable that hides an earlier one with the same name, unless it refers to it:
/// "$(NAME)".
void WarnAboutHiddenVariables(const FieldRef& variables, Warnings& warnings) {
  std::set<std::string> names;
  for (const FieldRef& variable : variables.items()) {
    const std::string name = variable["name"].text();
    const std::string value = variable["value"].text();
    const std::string reference = "$(" + name + ')';
    if (names.insert(name).second) continue;
    const bool refers = value != reference && value.find(reference) != std::string::npos;
    if (refers && !variable["valueFrom"].exists()) continue;
    warnings.push_back(variable.path() + ": hides previous definition of " + GoQuoted(name) +
                       ", which may be dropped when using apply");
  }
}

void WarnAboutContainer(const FieldRef& container, Warnings& warnings) {
  for (const char* bytes : {"memory", "ephemeral-storage"}) {
    for (const char* kind : {"limits", "requests"})
      WarnAboutFractionalBytes(container["resources"][kind].Key(bytes), warnings);
  }
  WarnAboutHiddenVariables(container["env"], warnings);
}

/// Formats a port as the Go type of kube-apiserver.
std::string FormatPort(const FieldRef& port) {
  return "{Name:" + port["name"].text() + " HostPort:" + std::to_string(port["hostPort"].number()) +
         " ContainerPort:" + std::to_string(port["containerPort"].number()) +
         " Protocol:" + port["protocol"].text() + " HostIP:" + port["hostIP"].text() + '}';
}

/// Returns how two ports of the same number and protocol conflict, or "" if they do not.
std::string ConflictOf(const FieldRef& port, const FieldRef& other) {
  const std::int64_t number = port["hostPort"].number();
  const std::int64_t other_number = other["hostPort"].number();
  const std::string address = port["hostIP"].text();
  const std::string other_address = other["hostIP"].text();
  if (number == other_number && address == other_address) return "duplicate";
  if (number == 0 || other_number == 0) return "overlapping";
  if (number == other_number && address.empty() != other_address.empty())
    return "dangerously ambiguous";
  return "";
}

void WarnAboutPortConflicts(const std::vector<FieldRef>& ports, Warnings& warnings) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldRef& port = ports[i];
    if (!IsUnset(port["hostIP"]) && port["hostPort"].number() == 0)
      warnings.push_back(port.path() + ": hostIP set without hostPort: " + FormatPort(port));
    for (std::size_t k = 0; k < i; ++k) {
      const FieldRef& other = ports[k];
      if (!port["containerPort"].is(other["containerPort"].value()) ||
          !port["protocol"].is(other["protocol"].value())) {
        continue;
      }
      const std::string conflict = ConflictOf(port, other);
      if (conflict.empty()) continue;
      warnings.push_back(port.path() + ": " + conflict + " port definition with " + other.path());
    }
  }
}

void WarnAboutPortNames(const std::vector<FieldRef>& ports, Warnings& warnings) {
  std::map<std::string, std::string> paths;
  for (const FieldRef& port : ports) {
    const std::string name = port["name"].text();
    if (name.empty()) continue;
    const auto [first, is_new] = paths.emplace(name, port.path());
    if (is_new) continue;
    warnings.push_back(port.path() + ": duplicate port name \"" + name + "\" with " +
                       first->second + ", services and probes that select ports by name will use " +
                       first->second);
  }
}

void WarnAboutPorts(const FieldRef& spec, Warnings& warnings) {
  std::vector<FieldRef> ports;
  ForEachContainer(spec, [&](const FieldRef& container) {
    for (const FieldRef& port : container["ports"].items()) ports.push_back(port);
  });
  WarnAboutPortConflicts(ports, warnings);
  WarnAboutPortNames(ports, warnings);
}

void WarnAboutAddresses(const FieldRef& spec, Warnings& warnings) {
  for (const FieldRef& server : spec["dnsConfig"]["nameservers"].items())
    WarnAboutIp(server, warnings);
  for (const FieldRef& alias : spec["hostAliases"].items()) WarnAboutIp(alias["ip"], warnings);
}

void WarnAboutGracePeriod(const FieldRef& seconds, Warnings& warnings) {
  if (seconds.number() >= 0) return;
  warnings.push_back(seconds.path() +
                     ": must be >= 0; negative values are invalid and will be treated as 1");
}

}  // namespace

void WarnAboutFractionalBytes(const FieldRef& amount, Warnings& warnings) {
  if (!amount.exists() || !HasFraction(amount.text())) return;
  warnings.push_back(amount.path() + ": fractional byte value " + amount.value().dump() +
                     " is invalid, must be an integer");
}

void WarnAboutHostName(const FieldRef& name, const std::string& use, Warnings& warnings) {
  const NameError detail = ValidateDnsLabel(name.text());
  if (!detail) return;
  warnings.push_back(name.path() + ": this is used in " + use +
                     ", which can result in surprising behavior; a DNS label is recommended: [" +
                     *detail + ']');
}

void WarnAboutNameOfPods(const nlohmann::json& object, Warnings& warnings) {
  WarnAboutHostName(FieldRef(object)["metadata"]["name"], "Pod names and hostnames", warnings);
}

void WarnAboutPodTemplate(const FieldRef& pod_template, Warnings& warnings) {
  const FieldRef spec = pod_template["spec"];
  const FieldRef annotations = pod_template["metadata"]["annotations"];
  WarnAboutNodeSelection(spec, warnings);
  WarnAboutDeprecatedAnnotations(annotations, warnings);
  WarnAboutVolumes(spec["volumes"], warnings);
  WarnAboutDuplicates(spec["hostAliases"], "ip", warnings);
  WarnAboutPullSecrets(spec["imagePullSecrets"], warnings);
  for (const char* bytes : {"memory", "ephemeral-storage"})
    WarnAboutFractionalBytes(spec["overhead"].Key(bytes), warnings);
  WarnAboutProfileAnnotations(annotations, spec, warnings);
  ForEachContainer(spec,
                   [&](const FieldRef& container) { WarnAboutContainer(container, warnings); });
  WarnAboutPorts(spec, warnings);
  WarnAboutGracePeriod(spec["terminationGracePeriodSeconds"], warnings);
  WarnAboutPodAffinity(spec["affinity"]["podAffinity"], warnings);
  WarnAboutPodAffinity(spec["affinity"]["podAntiAffinity"], warnings);
  WarnAboutAddresses(spec, warnings);
}

}  // namespace kopp::apiserver
