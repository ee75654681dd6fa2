#include "checks.hpp"
#include "rules_by_kind.hpp"
#include "world.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kTokens = "/var/run/secrets/kubernetes.io/serviceaccount";

/// As a cluster's controllers would, every namespace has an account "default".
json AccountOf(World& world, const json& pod, const std::string& name) {
  const json& metadata = pod.at("metadata");
  const std::string ns = metadata.at("namespace").get<std::string>();
  if (const StoredPtr account = world.store().Get("serviceaccounts", {ns, name})) {
    return json::parse(account->text);
  }
  if (name == "default") return json::object();
  Resource pods;
  pods.plural = "pods";
  throw Forbidden(pods, metadata.value("name", ""),
                  "error looking up service account " + ns + '/' + name + ": serviceaccount \"" +
                      name + "\" not found");
}

json TokenVolume(const std::string& name) {
  const json ns{{"path", "namespace"},
                {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}};
  const json sources{
      {{"serviceAccountToken", {{"expirationSeconds", 3607}, {"path", "token"}}}},
      {{"configMap",
        {{"name", "kube-root-ca.crt"}, {"items", {{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}},
      {{"downwardAPI", {{"items", json::array({ns})}}}}};
  return {{"name", name}, {"projected", {{"sources", sources}, {"defaultMode", 420}}}};
}

/// Gives every container that has nothing there the account's token.
void MountToken(World& world, json& spec) {
  std::string volume;
  for (const char* list : {"initContainers", "containers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      json& mounts = container["volumeMounts"];
      const bool mounted = std::any_of(mounts.begin(), mounts.end(), [](const json& mount) {
        return mount.value("mountPath", "") == kTokens;
      });
      if (mounted) continue;
      if (volume.empty()) volume = world.NewName("kube-api-access-");
      mounts.push_back({{"name", volume}, {"readOnly", true}, {"mountPath", kTokens}});
    }
  }
  if (!volume.empty()) spec["volumes"].push_back(TokenVolume(volume));
}

void UseAccount(World& world, json& pod) {
  json& spec = pod["spec"];
  const std::string name = spec.value("serviceAccountName", "default");
  const json account = AccountOf(world, pod, name);
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
  constexpr const char* kMounts = "automountServiceAccountToken";
  if (spec.value(kMounts, account.value(kMounts, true))) MountToken(world, spec);
}

/// How long a Pod stays on a node that does not answer.
void Tolerate(json& spec) {
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    json& tolerations = spec["tolerations"];
    const bool tolerated =
        std::any_of(tolerations.begin(), tolerations.end(), [&](const json& toleration) {
          const std::string effect = toleration.value("effect", "");
          const std::string of = toleration.value("key", "");
          return (of.empty() || of == key) && (effect.empty() || effect == "NoExecute");
        });
    if (tolerated) continue;
    tolerations.push_back({{"key", key},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", 300}});
  }
}

/// "Guaranteed": every container is limited to what it asks for. "BestEffort": none asks for
/// anything.
std::string QosClass(const Part& spec) {
  bool guaranteed = true;
  bool best_effort = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Part& container : spec[list].items()) {
      const Part limits = container["resources"]["limits"];
      const Part requests = container["resources"]["requests"];
      for (const char* name : {"cpu", "memory"}) {
        best_effort &= !limits[name].exists() && !requests[name].exists();
        guaranteed &= limits[name].exists() && limits[name].is(requests[name].value());
      }
    }
  }
  return best_effort ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void Assign(World& world, const json& before, json& pod) {
  json& spec = pod["spec"];
  if (before.is_null()) {
    UseAccount(world, pod);
    pod["status"] = {{"phase", "Pending"}, {"qosClass", QosClass(Part(pod)["spec"])}};
  }
  Tolerate(spec);
  const json was = before.is_null()
                       ? json{{"priority", 0}, {"preemptionPolicy", "PreemptLowerPriority"}}
                       : before.at("spec");
  for (const char* field : {"priority", "preemptionPolicy"}) {
    if (!spec.contains(field) && was.contains(field)) spec[field] = was[field];
  }
}

void CheckVolumes(const Part& volumes, Causes& causes) {
  std::set<std::string> names;
  for (const Part& volume : volumes.items()) {
    std::string source;
    for (const std::string& kind : volume.keys()) {
      if (kind == "name") continue;
      // The server asks for the kinds in an order of its own, emptyDir among the first.
      const bool second = !source.empty();
      if (second) {
        causes.push_back(ForbiddenField(volume[kind == "emptyDir" ? source : kind].path(),
                                        "may not specify more than 1 volume type"));
      }
      source = kind;
    }
    const Part name = volume["name"];
    if (CheckGiven(name, causes)) CheckName(name, &NotADnsLabel, causes);
    CheckNew(name, names, causes);
  }
}

void CheckToleration(const Part& toleration, Causes& causes) {
  const Part key = toleration["key"];
  const Part way = toleration["operator"];
  const Part value = toleration["value"];
  const Part effect = toleration["effect"];
  const auto wrong = [&](const Part& part, const Part& shown, const std::string& why) {
    causes.push_back(InvalidValue(part.path(), shown.text(), why));
  };
  if (!key.text().empty()) {
    for (const std::string& why : QualifiedNameProblems(key.text())) wrong(key, key, why);
  } else if (!way.is("Exists")) {
    wrong(way, way,
          "operator must be Exists when `key` is empty, which means \"match all values and all "
          "keys\"");
  }
  if (toleration["tolerationSeconds"].exists() && !effect.is("NoExecute")) {
    wrong(effect, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
  }
  if (way.is("Exists")) {
    if (!value.text().empty()) {
      wrong(way, value, "value must be empty when `operator` is 'Exists'");
    }
  } else if (way.text().empty() || way.is("Equal")) {
    if (const Why why = NotALabelValue(value.text())) wrong(way, value, *why);
  } else {
    CheckOneOf(way, {"Equal", "Exists"}, causes);
  }
  if (!effect.text().empty()) CheckTaintEffect(effect, causes);
}

void Check(const json& object, Causes& causes) { CheckPodSpec(Part(object)["spec"], causes); }

/// The spec with what may change as it was.
json WithoutChangeable(json spec, const json& was) {
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list) || !was.contains(list)) continue;
    json& containers = spec[list];
    for (std::size_t i = 0; i < std::min(containers.size(), was[list].size()); ++i) {
      containers[i]["image"] = was[list][i].value("image", "");
    }
  }
  for (const char* field : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    spec.erase(field);
    if (was.contains(field)) spec[field] = was[field];
  }
  return spec;
}

void CheckPodChange(const json& before, const json& after, Causes& causes) {
  const json was = before.value("spec", json::object());
  const json is = after.value("spec", json::object());
  for (const char* list : {"containers", "initContainers"}) {
    if (Part(is)[list].size() == Part(was)[list].size()) continue;
    causes.push_back(ForbiddenField(std::string("spec.") + list,
                                    "pod updates may not add or remove containers"));
    return;
  }
  if (WithoutChangeable(is, was) == was) return;
  causes.push_back(ForbiddenField(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,"
      "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
      "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
      "to 1 if it was previously negative)\n"));
}

}  // namespace

void CheckPodSpec(const Part& spec, Causes& causes) {
  CheckVolumes(spec["volumes"], causes);
  CheckContainers(spec, causes);
  CheckOneOf(spec["restartPolicy"], {"Always", "OnFailure", "Never"}, causes);
  CheckOneOf(spec["dnsPolicy"], {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
             causes);
  CheckLabels(spec["nodeSelector"], causes);
  const Part security = spec["securityContext"];
  for (const char* id : {"fsGroup", "runAsUser", "runAsGroup"}) CheckId(security[id], causes);
  for (const Part& group : security["supplementalGroups"].items()) CheckId(group, causes);
  for (const char* name : {"serviceAccountName", "nodeName"}) {
    if (spec[name].exists()) CheckName(spec[name], &NotADnsSubdomain, causes);
  }
  const Part deadline = spec["activeDeadlineSeconds"];
  if (deadline.exists() && deadline.number() < 1) {
    causes.push_back(InvalidValue(deadline.path(), deadline.value(),
                                  "must be between 1 and 2147483647, inclusive"));
  }
  for (const char* name : {"hostname", "subdomain"}) {
    if (spec[name].exists()) CheckName(spec[name], &NotADnsLabel, causes);
  }
  for (const Part& toleration : spec["tolerations"].items()) CheckToleration(toleration, causes);
}

void CheckPodTemplate(const Part& pod_template, Causes& causes) {
  const Part labels = pod_template["metadata"]["labels"];
  Causes found;
  CheckLabels(labels, found);
  // The server leaves "metadata" out of these paths.
  const std::string path = pod_template["labels"].path();
  for (Cause& cause : found) {
    cause.field = path;
    causes.push_back(std::move(cause));
  }
  CheckPodSpec(pod_template["spec"], causes);
}

void AddPodRules(RulesByKind& rules) {
  KindRules& pods = rules["pods"];
  pods.graceful = true;
  pods.generation = KindRules::Generation::kSpec;
  pods.assign = &Assign;
  pods.check = &Check;
  pods.check_change = &CheckPodChange;
  rules["podtemplates"].generation = KindRules::Generation::kSpec;
}

}  // namespace kopp::apiserver
