#include "decoding/computed_defaults.hpp"

#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <map>
#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns whether the name of an image has only valid characters, and no empty component.
bool IsImageName(std::string_view name) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || detail::IsDigit(c); };
  const std::size_t slash = name.find('/');
  const std::string_view host = name.substr(0, slash == std::string_view::npos ? 0 : slash);
  // A host has a dot or a port; it may contain upper-case letters.
  const bool has_host = host == "localhost" || host.find_first_of(".:") != std::string_view::npos;
  if (has_host) name.remove_prefix(slash + 1);
  char previous = '/';
  for (const char c : name) {
    const bool may_repeat = c == '_' || c == '-';
    if (!is_alnum(c) && !may_repeat && c != '/' && c != '.') return false;
    if (!is_alnum(c) && !is_alnum(previous) && !(may_repeat && c == previous)) return false;
    previous = c;
  }
  return is_alnum(previous);
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
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec->contains(list)) continue;
    for (json& container : (*spec)[list]) {
      DefaultRequestsToLimits(container);
      if (IsTrueAt(*spec, "/hostNetwork")) DefaultHostPorts(container);
    }
  }
}

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

/// A Service with external IPs is as accessible from outside as one with node ports.
void DefaultServiceSpec(json& spec) {
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
      {"EphemeralContainer", &DefaultContainer},
      {"LimitRangeItem", &DefaultLimitRangeItem},
      {"Namespace", &DefaultNamespace},
      {"Pod", &DefaultPod},
      {"ReplicationController", &DefaultReplicationController},
      {"Secret", &DefaultSecret},
      {"ServiceSpec", &DefaultServiceSpec},
      {"StatefulSetSpec", &DefaultStatefulSetSpec},
      {"Volume", &DefaultVolume},
  };
  if (const auto found = by_type.find(type); found != by_type.end()) found->second(object);
}

}  // namespace kopp::apiserver
