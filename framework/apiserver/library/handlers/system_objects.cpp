#include "handlers/system_objects.hpp"

#include "storage/stored_objects.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// An object that every new cluster has, without its uid and its creation time.
struct SystemObject {
  const char* storage_resource;
  json object;
};

SystemObject MakePriorityClass(const char* name, int value, const char* description) {
  return {"priorityclasses.scheduling.k8s.io",
          {{"metadata", {{"name", name}, {"generation", 1}}},
           {"value", value},
           {"description", description},
           {"preemptionPolicy", "PreemptLowerPriority"}}};
}

const std::vector<SystemObject>& SystemObjects() {
  static const json rbac_metadata{
      {"name", "cluster-admin"},
      {"labels", {{"kubernetes.io/bootstrapping", "rbac-defaults"}}},
      {"annotations", {{"rbac.authorization.kubernetes.io/autoupdate", "true"}}}};
  static const std::vector<SystemObject> objects{
      {"clusterroles.rbac.authorization.k8s.io",
       {{"metadata", rbac_metadata},
        {"rules", json::parse(R"([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
                                  {"verbs": ["*"], "nonResourceURLs": ["*"]}])")}}},
      {"clusterrolebindings.rbac.authorization.k8s.io",
       {{"metadata", rbac_metadata},
        {"roleRef", json::parse(R"({"apiGroup": "rbac.authorization.k8s.io",
                                    "kind": "ClusterRole", "name": "cluster-admin"})")},
        {"subjects", json::parse(R"([{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
                                      "name": "system:masters"}])")}}},
      MakePriorityClass("system-cluster-critical", 2000000000,
                        "Used for system critical pods that must run in the cluster, but can be "
                        "moved to another node if necessary."),
      MakePriorityClass("system-node-critical", 2000001000,
                        "Used for system critical pods that must not be moved from their current "
                        "node."),
      {"services", json::parse(R"({
         "metadata": {"name": "kubernetes", "namespace": "default",
                      "labels": {"component": "apiserver", "provider": "kubernetes"}},
         "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
                  "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"],
                  "ipFamilyPolicy": "SingleStack",
                  "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
                  "sessionAffinity": "None", "type": "ClusterIP"},
         "status": {"loadBalancer": {}}})")},
  };
  return objects;
}

void CreateSystemObject(ServerContext& context, const std::string& storage_resource, json object) {
  json& metadata = object["metadata"];
  metadata["uid"] = context.NewUid();
  metadata["creationTimestamp"] = context.Now();
  const ObjectKey key{metadata.value("namespace", ""), metadata.at("name")};
  const ResourcePtr resource = context.catalog()->FindByStorageResource(storage_resource);
  const ObjectAttributes attributes = ObjectAttributesOf(*resource, object);
  context.store().Put(storage_resource, key, nullptr, object, attributes);
}

void CreateSystemNamespaces(ServerContext& context) {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    CreateSystemObject(
        context, "namespaces",
        {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}},
         {"spec", {{"finalizers", {"kubernetes"}}}},
         {"status", {{"phase", "Active"}}}});
  }
}

/// Returns the priority of an API group in discovery, as in kube-apiserver.
int GroupPriority(std::string_view group) {
  constexpr std::pair<std::string_view, int> kPriorities[] = {
      {"", 18000},
      {"apps", 17800},
      {"events.k8s.io", 17750},
      {"authentication.k8s.io", 17700},
      {"authorization.k8s.io", 17600},
      {"autoscaling", 17500},
      {"batch", 17400},
      {"certificates.k8s.io", 17300},
      {"networking.k8s.io", 17200},
      {"policy", 17100},
      {"rbac.authorization.k8s.io", 17000},
      {"storage.k8s.io", 16800},
      {"admissionregistration.k8s.io", 16700},
      {"apiextensions.k8s.io", 16700},
      {"scheduling.k8s.io", 16600},
      {"coordination.k8s.io", 16500},
      {"node.k8s.io", 16300},
      {"discovery.k8s.io", 16200}};
  for (const auto& [name, priority] : kPriorities) {
    if (name == group) return priority;
  }
  return 1000;
}

int VersionPriority(std::string_view group, std::string_view version) {
  if (group.empty()) return 1;
  return version == "v2" ? 30 : 15;
}

void CreateApiServices(ServerContext& context) {
  std::set<std::string> created;
  const auto catalog = context.catalog();
  for (const ResourcePtr& resource : catalog->all()) {
    const std::string& group = resource->group;
    const std::string& version = resource->version;
    const std::string name = version + '.' + group;
    // The API server does not register the group of the APIServices themselves.
    if (group == "apiregistration.k8s.io" || !created.insert(name).second) continue;
    json spec{{"version", version},
              {"groupPriorityMinimum", GroupPriority(group)},
              {"versionPriority", VersionPriority(group, version)}};
    if (!group.empty()) spec["group"] = group;
    CreateSystemObject(
        context, "apiservices.apiregistration.k8s.io",
        {{"metadata",
          {{"name", name}, {"labels", {{"kube-aggregator.kubernetes.io/automanaged", "onstart"}}}}},
         {"spec", std::move(spec)},
         {"status",
          {{"conditions",
            {{{"type", "Available"},
              {"status", "True"},
              {"lastTransitionTime", context.Now()},
              {"reason", "Local"},
              {"message", "Local APIServices are always available"}}}}}}});
  }
}

}  // namespace

void CreateSystemObjects(ServerContext& context) {
  CreateSystemNamespaces(context);
  for (const auto& [storage_resource, object] : SystemObjects()) {
    CreateSystemObject(context, storage_resource, object);
  }
  CreateApiServices(context);
}

}  // namespace kopp::apiserver
