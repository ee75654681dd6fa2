#include "checks.hpp"
#include "quantity.hpp"
#include "rules_by_kind.hpp"
#include "said.hpp"
#include "world.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Generation = KindRules::Generation;

Why NotANamespaceName(std::string_view text) {
  if (text.find('.') != std::string_view::npos) return "must not contain dots";
  return NotADnsLabel(text);
}

/// Adds `item` to a list that is perhaps not there yet.
void Add(json& list, const json& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

void AssignToNamespace(World&, const json& before, json& ns) {
  if (before.is_null()) {
    Add(ns["spec"]["finalizers"], "kubernetes");
  } else if (before.at("spec").contains("finalizers")) {
    ns["spec"]["finalizers"] = before.at("spec").at("finalizers");
  } else {
    ns["spec"].erase("finalizers");
  }
}

constexpr const char* kClaimProtection = "kubernetes.io/pvc-protection";
constexpr const char* kVolumeProtection = "kubernetes.io/pv-protection";

void AssignToClaim(World&, const json& before, json& claim) {
  if (before.is_null()) Add(claim["metadata"]["finalizers"], kClaimProtection);
}

void AssignToVolume(World& world, const json& before, json& volume) {
  if (!before.is_null()) return;
  Add(volume["metadata"]["finalizers"], kVolumeProtection);
  volume["status"]["lastPhaseTransitionTime"] = world.Now();
}

void AssignToNode(World&, const json& before, json& node) {
  if (!before.is_null()) return;
  const json not_ready{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  json& taints = node["spec"]["taints"];
  const bool is_there = std::any_of(taints.begin(), taints.end(), [&](const json& taint) {
    return Said(taint, "key") == not_ready["key"] && Said(taint, "effect") == not_ready["effect"];
  });
  if (!is_there) taints.push_back(not_ready);
}

Cause DuplicateTaint(const std::string& path, const Part& taint) {
  const auto shown = [&](const char* field) { return json(taint[field].text()).dump(); };
  return {"FieldValueDuplicate",
          R"(Duplicate value: {"Key":)" + shown("key") + R"(,"Value":)" + shown("value") +
              R"(,"Effect":)" + shown("effect") + R"(,"TimeAdded":)" +
              taint["timeAdded"].value().dump() + "}: taints must be unique by key and effect pair",
          path};
}

void CheckClaim(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  if (spec["accessModes"].size() == 0) {
    causes.push_back(Required(spec["accessModes"].path(), "at least 1 access mode is required"));
  }
  for (const Part& mode : spec["accessModes"].items()) {
    Causes found;
    CheckOneOf(mode, {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}, found);
    for (Cause& cause : found) {
      cause.field = spec["accessModes"].path();
      causes.push_back(std::move(cause));
    }
  }
  const Part storage = spec["resources"]["requests"]["storage"];
  if (!storage.exists()) {
    causes.push_back(Required("spec.resources[storage]", ""));
  } else if (Quantity(storage.text()) <= Quantity("0")) {
    causes.push_back(
        InvalidValue("spec.resources[storage]", storage.value(), "must be greater than zero"));
  }
}

void CheckTaints(const json& node, Causes& causes) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Part& taint : Part(node)["spec"]["taints"].items()) {
    // In the server's words they are part of the metadata.
    const std::string path = "metadata" + taint.path().substr(taint.path().find('.'));
    const std::string key = taint["key"].text();
    const std::string effect = taint["effect"].text();
    for (const std::string& why : QualifiedNameProblems(key)) {
      causes.push_back(InvalidValue(path + ".key", key, why));
    }
    if (const Why why = NotALabelValue(taint["value"].text())) {
      causes.push_back(InvalidValue(path + ".value", taint["value"].text(), *why));
    }
    Causes of_effect;
    if (CheckGiven(taint["effect"], of_effect)) CheckTaintEffect(taint["effect"], of_effect);
    for (Cause& cause : of_effect) {
      cause.field = path + ".effect";
      causes.push_back(std::move(cause));
    }
    if (!seen.emplace(key, effect).second) causes.push_back(DuplicateTaint(path, taint));
  }
}

void CheckLease(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part duration = spec["leaseDurationSeconds"];
  if (duration.exists() && duration.number() <= 0) {
    causes.push_back(InvalidValue(duration.path(), duration.value(), "must be greater than 0"));
  }
  CheckNotNegative(spec["leaseTransitions"], causes);
}

void CheckBackend(const Part& backend, Causes& causes) {
  const Part service = backend["service"];
  const auto wrong = [&](const char* why) {
    causes.push_back(InvalidValue(backend.path(), "", why));
  };
  if (!service.exists()) {
    if (!backend["resource"].exists()) wrong("resource or service backend is required");
    return;
  }
  if (backend["resource"].exists()) return wrong("cannot set both resource and service backends");
  if (CheckGiven(service["name"], causes)) CheckName(service["name"], &NotADns1035Label, causes);
  const Part port = service["port"];
  if (port["name"].exists() && port["number"].exists()) {
    wrong("cannot set both port name & port number");
  } else if (port["number"].exists()) {
    CheckPort(port["number"], causes);
  } else if (!port["name"].exists()) {
    causes.push_back(Required(backend.path(), "port name or number is required"));
  }
}

void CheckIngressPath(const Part& path, Causes& causes) {
  if (!CheckGiven(path["pathType"], causes, "pathType must be specified")) return;
  const std::string text = path["path"].text();
  const bool may_be_empty = path["pathType"].is("ImplementationSpecific");
  if (!text.starts_with('/') && !(may_be_empty && text.empty())) {
    causes.push_back(InvalidValue(path["path"].path(), text, "must be an absolute path"));
  }
  CheckOneOf(path["pathType"], {"Exact", "ImplementationSpecific", "Prefix"}, causes);
  CheckBackend(path["backend"], causes);
}

void CheckIngress(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part rules = spec["rules"];
  if (rules.size() == 0 && !spec["defaultBackend"].exists()) {
    causes.push_back(InvalidValue(spec.path(), json::array(),
                                  "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec["defaultBackend"].exists()) CheckBackend(spec["defaultBackend"], causes);
  for (const Part& rule : rules.items()) {
    const Part host = rule["host"];
    if (host.exists() && !host.text().starts_with("*.")) {
      CheckName(host, &NotADnsSubdomain, causes);
    }
    const Part paths = rule["http"]["paths"];
    if (rule["http"].exists() && paths.size() == 0) causes.push_back(Required(paths.path(), ""));
    for (const Part& path : paths.items()) CheckIngressPath(path, causes);
  }
}

void CheckShareOfAll(const Part& share, Causes& causes) {
  const std::size_t before = causes.size();
  CheckShare(share, causes);
  const std::string text = share.text();
  if (text.empty() || causes.size() > before || std::strtod(text.c_str(), nullptr) <= 100) return;
  causes.push_back(InvalidValue(share.path(), text, "must not be greater than 100%"));
}

void CheckBudget(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  if (spec["minAvailable"].exists() && spec["maxUnavailable"].exists()) {
    causes.push_back(InvalidValue(spec.path(), spec.value(),
                                  "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const char* share : {"minAvailable", "maxUnavailable"}) CheckShareOfAll(spec[share], causes);
  CheckSelector(spec["selector"], causes);
}

void CheckNetworkPolicy(const json& object, Causes& causes) {
  CheckSelector(Part(object)["spec"]["podSelector"], causes);
}

}  // namespace

void AddOtherRules(RulesByKind& rules) {
  for (const char* with_spec :
       {"ingressclasses.networking.k8s.io", "ingresses.networking.k8s.io",
        "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy"}) {
    rules[with_spec].generation = Generation::kSpec;
  }
  for (const char* kind : {"leases.coordination.k8s.io", "limitranges"}) {
    rules[kind].created_by_update = true;
  }
  for (const char* kind : {"customresourcedefinitions.apiextensions.k8s.io",
                           "leases.coordination.k8s.io", "poddisruptionbudgets.policy"}) {
    rules[kind].wins_unconditionally = false;
  }
  rules["namespaces"].is_name = &NotANamespaceName;
  rules["namespaces"].assign = &AssignToNamespace;
  rules["nodes"].takes_status_on_create = true;
  rules["nodes"].assign = &AssignToNode;
  rules["nodes"].check = &CheckTaints;
  rules["persistentvolumeclaims"].assign = &AssignToClaim;
  rules["persistentvolumeclaims"].protection = kClaimProtection;
  rules["persistentvolumeclaims"].check = &CheckClaim;
  rules["persistentvolumes"].assign = &AssignToVolume;
  rules["persistentvolumes"].protection = kVolumeProtection;
  rules["leases.coordination.k8s.io"].check = &CheckLease;
  rules["ingresses.networking.k8s.io"].check = &CheckIngress;
  rules["networkpolicies.networking.k8s.io"].check = &CheckNetworkPolicy;
  rules["poddisruptionbudgets.policy"].check = &CheckBudget;
}

}  // namespace kopp::apiserver
