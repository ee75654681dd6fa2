#include "decoding/computed_defaults.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxImagePath = 255;
constexpr std::size_t kDigestLength = 64;
constexpr std::string_view kDefaultRepository = "library/";  // of images without one

/// Returns whether an image is given by its digest alone, which has no tag.
bool IsImageDigest(std::string_view name) {
  return name.size() == kDigestLength &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns whether `host` is the name of a registry, with or without a port.
bool IsImageHost(std::string_view host) {
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || !std::all_of(port.begin(), port.end(), &detail::IsDigit)) return false;
    host = host.substr(0, colon);
  }
  char previous = '.';
  for (const char c : host) {
    if (!detail::IsLetterOrDigit(c) && c != '-' && c != '.') return false;
    // A part does not start or end with a hyphen.
    if (!detail::IsLetterOrDigit(c) && !detail::IsLetterOrDigit(previous) &&
        !(c == '-' && previous == '-'))
      return false;
    previous = c;
  }
  return detail::IsLetterOrDigit(previous);
}

/// Returns whether the path of an image has only valid characters, and no empty component.
bool IsImagePath(std::string_view path) {
  char previous = '/';
  for (const char c : path) {
    const bool is_alnum = detail::IsLetterOrDigit(c) && !(c >= 'A' && c <= 'Z');
    const bool may_repeat = c == '_' || c == '-';
    if (!is_alnum && !may_repeat && c != '/' && c != '.') return false;
    if (!is_alnum && !detail::IsLetterOrDigit(previous) && !(may_repeat && c == previous))
      return false;
    previous = c;
  }
  return detail::IsLetterOrDigit(previous);
}

/// Returns whether the name of an image, without tag and digest, is valid.
bool IsImageName(std::string_view name) {
  if (IsImageDigest(name)) return false;
  const std::size_t slash = name.find('/');
  const std::string_view host = name.substr(0, slash == std::string_view::npos ? 0 : slash);
  // A host has a dot or a port; it may contain upper-case letters.
  const bool has_host = host == "localhost" || host.find_first_of(".:") != std::string_view::npos;
  if (has_host && !IsImageHost(host)) return false;
  if (has_host) name.remove_prefix(slash + 1);
  const bool has_repository = slash != std::string_view::npos;
  const std::size_t prefix = has_repository ? 0 : kDefaultRepository.size();
  return name.size() + prefix <= kMaxImagePath && IsImagePath(name);
}

/// Returns whether an image reference has the tag "latest", which is the default tag. An invalid
/// reference has no tag.
bool HasLatestTag(const std::string& image) {
  if (image.find('@') != std::string::npos) return false;
  const std::size_t slash = image.rfind('/');
  const std::size_t colon = image.find(':', slash == std::string::npos ? 0 : slash);
  if (!IsImageName(std::string_view(image).substr(0, colon))) return false;
  return colon == std::string::npos || image.substr(colon) == ":latest";
}

void DefaultContainer(json& container) {
  if (container.contains("imagePullPolicy") || !HasLatestTag(StringField(container, "image")))
    return;
  container["imagePullPolicy"] = "Always";
}

/// Requests default to limits.
void DefaultRequestsToLimits(json& container) {
  const auto resources = container.find("resources");
  if (resources == container.end() || !resources->contains("limits")) return;
  json requests = (*resources)["limits"];
  requests.update(resources->value("requests", json::object()));
  (*resources)["requests"] = std::move(requests);
}

/// Sets missing host ports to the container ports, the default with hostNetwork.
void DefaultHostPorts(json& container) {
  if (!container.contains("ports")) return;
  for (json& port : container["ports"]) {
    if (IntegerAt(port, "/hostPort") == 0 && port.contains("containerPort")) {
      port["hostPort"] = port["containerPort"];
    }
  }
}

void DefaultPod(json& pod) {
  const auto spec = pod.find("spec");
  if (spec == pod.end()) return;
  if (const auto grace = spec->find("terminationGracePeriodSeconds");
      grace != spec->end() && *grace < 0)
    *grace = 1;
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec->contains(list)) continue;
    for (json& container : (*spec)[list]) {
      DefaultRequestsToLimits(container);
      if (IsTrueAt(*spec, "/hostNetwork")) DefaultHostPorts(container);
    }
  }
}

// The following functions drop fields whose features are disabled by default in Kubernetes.

void DropRestartRules(json& container) {
  container.erase("restartPolicyRules");
  container.erase("restartPolicy");
}

/// Removes the items of `list` whose `name` is in `names`.
void RemoveByName(json& list, const std::set<std::string>& names) {
  json kept = json::array();
  for (json& item : list) {
    if (!names.contains(StringField(item, "name"))) kept.push_back(std::move(item));
  }
  list = std::move(kept);
}

/// Drops the volumes with an image, and their mounts.
void DropImageVolumes(json& spec) {
  std::set<std::string> names;
  if (!spec.contains("volumes")) return;
  for (const json& volume : spec["volumes"]) {
    if (volume.contains("image")) names.insert(StringField(volume, "name"));
  }
  if (names.empty()) return;
  RemoveByName(spec["volumes"], names);
  for (const char* list : {"containers", "ephemeralContainers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      if (container.contains("volumeMounts")) RemoveByName(container["volumeMounts"], names);
    }
  }
}

void DropDisabledPodFields(json& spec) {
  spec.erase("hostnameOverride");
  DropImageVolumes(spec);
  for (const char* list : {"containers", "ephemeralContainers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      const bool is_sidecar = list == std::string_view("initContainers") &&
                              StringField(container, "restartPolicy") == "Always";
      DropRestartRules(container);
      if (is_sidecar) container["restartPolicy"] = "Always";
    }
  }
}

void DropDisabledVariableSources(json& source) { source.erase("fileKeyRef"); }

void DropDisabledProjections(json& source) {
  for (const char* kind : {"clusterTrustBundle", "podCertificate"}) source.erase(kind);
}

void DropStopSignal(json& lifecycle) { lifecycle.erase("stopSignal"); }

void DefaultVolume(json& volume) {
  if (volume.size() == (volume.contains("name") ? 1 : 0)) volume["emptyDir"] = json::object();
}

/// Moves stringData to data.
void DefaultSecret(json& secret) {
  const auto string_data = secret.find("stringData");
  if (string_data == secret.end()) return;
  json data = secret.value("data", json::object());
  for (const auto& [name, text] : string_data->items())
    data[name] = detail::EncodeBase64(text.get<std::string>());
  secret.erase("stringData");
  secret["data"] = std::move(data);
}

void DefaultNamespace(json& ns) {
  json& metadata = ns["metadata"];
  const std::string name = StringField(metadata, "name");
  if (!name.empty()) metadata["labels"]["kubernetes.io/metadata.name"] = name;
}

void DefaultReplicationController(json& controller) {
  const json labels = ValueAt(controller, "/spec/template/metadata/labels");
  if (labels.is_null()) return;
  json& selector = controller["spec"]["selector"];
  if (selector.empty()) selector = labels;
  json& own_labels = controller["metadata"]["labels"];
  if (own_labels.empty()) own_labels = labels;
}

void DefaultLimitRangeItem(json& limit) {
  if (StringField(limit, "type") != "Container") return;
  const auto merge = [&](const char* to, const char* from) {
    if (!limit.contains(from)) return;
    json merged = limit[from];
    merged.update(limit.value(to, json::object()));
    limit[to] = std::move(merged);
  };
  merge("default", "max");
  merge("defaultRequest", "default");
  merge("defaultRequest", "min");
}

/// Sets the initial template generation.
void DefaultDaemonSet(json& set) {
  json& annotations = set["metadata"]["annotations"];
  constexpr const char* kGeneration = "deprecated.daemonset.template.generation";
  if (!annotations.contains(kGeneration)) annotations[kGeneration] = "1";
}

void DefaultEndpointSlice(json& slice) {
  if (!slice.contains("ports")) return;
  for (json& port : slice["ports"]) {
    if (!port.contains("name")) port["name"] = "";
  }
}

/// Removes the configuration of a session affinity that is not used, and completes one that is.
void DefaultSessionAffinity(json& spec) {
  const std::string affinity = StringField(spec, "sessionAffinity");
  if (affinity.empty() || affinity == "None") spec.erase("sessionAffinityConfig");
  if (affinity != "ClientIP") return;
  json& client_ip = spec["sessionAffinityConfig"]["clientIP"];
  if (client_ip.is_null()) client_ip = json::object();
}

/// A Service with external IPs is as accessible from outside as one with node ports.
void DefaultServiceSpec(json& spec) {
  DefaultSessionAffinity(spec);
  const std::string type = StringField(spec, "type");
  if (!spec.contains("externalIPs") || (!type.empty() && type != "ClusterIP")) return;
  if (!spec.contains("externalTrafficPolicy")) spec["externalTrafficPolicy"] = "Cluster";
}

void DefaultStatefulSetSpec(json& spec) {
  constexpr const char* kClaims = "volumeClaimTemplates";
  if (!spec.contains(kClaims)) return;
  for (json& claim : spec[kClaims]) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
  }
}

}  // namespace

void ApplyComputedDefaults(json& object, std::string_view type) {
  static const std::map<std::string_view, void (*)(json&)> by_type = {
      {"Container", &DefaultContainer},
      {"DaemonSet", &DefaultDaemonSet},
      {"EndpointSlice", &DefaultEndpointSlice},
      {"EnvVarSource", &DropDisabledVariableSources},
      {"EphemeralContainer", &DefaultContainer},
      {"Lifecycle", &DropStopSignal},
      {"LimitRangeItem", &DefaultLimitRangeItem},
      {"Namespace", &DefaultNamespace},
      {"Pod", &DefaultPod},
      {"PodSpec", &DropDisabledPodFields},
      {"ReplicationController", &DefaultReplicationController},
      {"Secret", &DefaultSecret},
      {"ServiceSpec", &DefaultServiceSpec},
      {"StatefulSetSpec", &DefaultStatefulSetSpec},
      {"Volume", &DefaultVolume},
      {"VolumeProjection", &DropDisabledProjections},
  };
  if (const auto found = by_type.find(type); found != by_type.end()) found->second(object);
}

}  // namespace kopp::apiserver
