#include "computed_defaults.hpp"

#include "base64.hpp"

#include <map>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Without a tag, an image is the latest.
bool IsLatest(const std::string& image) {
  if (image.find('@') != std::string::npos) return false;
  const std::string name = image.substr(image.rfind('/') + 1);
  const auto colon = name.find(':');
  return colon == std::string::npos || name.substr(colon) == ":latest";
}

void OfContainer(json& container) {
  if (container.contains("imagePullPolicy") || !IsLatest(container.value("image", ""))) return;
  container["imagePullPolicy"] = "Always";
}

/// What is limited is asked for.
void RequestLimits(json& container) {
  const auto resources = container.find("resources");
  if (resources == container.end() || !resources->contains("limits")) return;
  json requests = (*resources)["limits"];
  requests.update(resources->value("requests", json::object()));
  (*resources)["requests"] = std::move(requests);
}

void UseHostPorts(json& container) {
  if (!container.contains("ports")) return;
  for (json& port : container["ports"]) {
    if (port.value("hostPort", 0) == 0 && port.contains("containerPort")) {
      port["hostPort"] = port["containerPort"];
    }
  }
}

void OfPod(json& pod) {
  const auto spec = pod.find("spec");
  if (spec == pod.end()) return;
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec->contains(list)) continue;
    for (json& container : (*spec)[list]) {
      RequestLimits(container);
      if (spec->value("hostNetwork", false)) UseHostPorts(container);
    }
  }
}

void OfVolume(json& volume) {
  if (volume.size() == (volume.contains("name") ? 1 : 0)) volume["emptyDir"] = json::object();
}

void OfSecret(json& secret) {
  const auto texts = secret.find("stringData");
  if (texts == secret.end()) return;
  json data = secret.value("data", json::object());
  for (const auto& [name, text] : texts->items()) data[name] = Encoded(text.get<std::string>());
  secret.erase("stringData");
  secret["data"] = std::move(data);
}

void OfNamespace(json& ns) {
  json& metadata = ns["metadata"];
  const std::string name = metadata.value("name", "");
  if (!name.empty()) metadata["labels"]["kubernetes.io/metadata.name"] = name;
}

void OfReplicationController(json& controller) {
  const json labels = controller.value("/spec/template/metadata/labels"_json_pointer, json());
  if (labels.is_null()) return;
  json& selector = controller["spec"]["selector"];
  if (selector.empty()) selector = labels;
  json& own = controller["metadata"]["labels"];
  if (own.empty()) own = labels;
}

void OfLimit(json& limit) {
  if (limit.value("type", "") != "Container") return;
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

/// The number of its template, before the server sets it.
void OfDaemonSet(json& set) {
  json& annotations = set["metadata"]["annotations"];
  constexpr const char* kGeneration = "deprecated.daemonset.template.generation";
  if (!annotations.contains(kGeneration)) annotations[kGeneration] = "1";
}

void OfStatefulSetSpec(json& spec) {
  constexpr const char* kClaims = "volumeClaimTemplates";
  if (!spec.contains(kClaims)) return;
  for (json& claim : spec[kClaims]) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
  }
}

}  // namespace

void FillInByCode(json& object, std::string_view type) {
  static const std::map<std::string_view, void (*)(json&)> by_type = {
      {"Container", &OfContainer},
      {"DaemonSet", &OfDaemonSet},
      {"EphemeralContainer", &OfContainer},
      {"LimitRangeItem", &OfLimit},
      {"Namespace", &OfNamespace},
      {"Pod", &OfPod},
      {"ReplicationController", &OfReplicationController},
      {"Secret", &OfSecret},
      {"StatefulSetSpec", &OfStatefulSetSpec},
      {"Volume", &OfVolume},
  };
  if (const auto found = by_type.find(type); found != by_type.end()) found->second(object);
}

}  // namespace kopp::apiserver
