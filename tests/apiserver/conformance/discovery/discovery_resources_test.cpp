#include "conformance.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

const json all_verbs{"create", "delete", "deletecollection", "get",
                     "list",   "patch",  "update",           "watch"};

/// The expected discovery entry of a resource. Its verbs are `all_verbs`.
struct ListedResource {
  std::string test_name{};
  std::string path{};
  std::string name{};
  std::string singular{};
  std::string kind{};
  bool namespaced = true;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
};
void PrintTo(const ListedResource& resource, std::ostream* out) { *out << resource.name; }

/// Fixture of tests of the resources in an APIResourceList.
class ApiResourceTest : public ConformanceTest {
 protected:
  /// Returns the entry named `name` in the APIResourceList at `path`, without its
  /// storageVersionHash. Returns null if there is none.
  static json FindResource(const std::string& path, const std::string& name) {
    for (json resource : Get(path).at("/resources")) {
      resource.erase("storageVersionHash");
      if (resource["name"] == name) return resource;
    }
    return nullptr;
  }
};

class ListedResourceTest : public ApiResourceTest,
                           public ::testing::WithParamInterface<ListedResource> {};

TEST_P(ListedResourceTest, ResourceIsListedWithItsNamesScopeKindAndVerbs) {
  const ListedResource& resource = GetParam();

  json expected{{"name", resource.name},
                {"singularName", resource.singular},
                {"namespaced", resource.namespaced},
                {"kind", resource.kind},
                {"verbs", all_verbs}};
  if (!resource.short_names.empty()) expected["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) expected["categories"] = resource.categories;
  EXPECT_EQ(FindResource(resource.path, resource.name), expected);
}

const ListedResource listed_resources[] = {
    {"ConfigMaps", "/api/v1", "configmaps", "configmap", "ConfigMap", true, {"cm"}, {}},
    {"Secrets", "/api/v1", "secrets", "secret", "Secret", true, {}, {}},
    {"Pods", "/api/v1", "pods", "pod", "Pod", true, {"po"}, {"all"}},
    {"Services", "/api/v1", "services", "service", "Service", true, {"svc"}, {"all"}},
    {"ServiceAccounts",
     "/api/v1",
     "serviceaccounts",
     "serviceaccount",
     "ServiceAccount",
     true,
     {"sa"},
     {}},
    {"Events", "/api/v1", "events", "event", "Event", true, {"ev"}, {}},
    {"Nodes", "/api/v1", "nodes", "node", "Node", false, {"no"}, {}},
    {"Deployments",
     "/apis/apps/v1",
     "deployments",
     "deployment",
     "Deployment",
     true,
     {"deploy"},
     {"all"}},
    {"ReplicaSets",
     "/apis/apps/v1",
     "replicasets",
     "replicaset",
     "ReplicaSet",
     true,
     {"rs"},
     {"all"}},
    {"StatefulSets",
     "/apis/apps/v1",
     "statefulsets",
     "statefulset",
     "StatefulSet",
     true,
     {"sts"},
     {"all"}},
    {"DaemonSets", "/apis/apps/v1", "daemonsets", "daemonset", "DaemonSet", true, {"ds"}, {"all"}},
    {"Jobs", "/apis/batch/v1", "jobs", "job", "Job", true, {}, {"all"}},
    {"CronJobs", "/apis/batch/v1", "cronjobs", "cronjob", "CronJob", true, {"cj"}, {"all"}},
    {"Leases", "/apis/coordination.k8s.io/v1", "leases", "lease", "Lease", true, {}, {}},
    {"EventsOfTheEventsGroup",
     "/apis/events.k8s.io/v1",
     "events",
     "event",
     "Event",
     true,
     {"ev"},
     {}},
    {"Roles", "/apis/rbac.authorization.k8s.io/v1", "roles", "role", "Role", true, {}, {}},
    {"ClusterRoles",
     "/apis/rbac.authorization.k8s.io/v1",
     "clusterroles",
     "clusterrole",
     "ClusterRole",
     false,
     {},
     {}},
    {"Ingresses",
     "/apis/networking.k8s.io/v1",
     "ingresses",
     "ingress",
     "Ingress",
     true,
     {"ing"},
     {}},
    {"NetworkPolicies",
     "/apis/networking.k8s.io/v1",
     "networkpolicies",
     "networkpolicy",
     "NetworkPolicy",
     true,
     {"netpol"},
     {}},
    {"PodDisruptionBudgets",
     "/apis/policy/v1",
     "poddisruptionbudgets",
     "poddisruptionbudget",
     "PodDisruptionBudget",
     true,
     {"pdb"},
     {}},
    {"WebhookConfigurations",
     "/apis/admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     "validatingwebhookconfiguration",
     "ValidatingWebhookConfiguration",
     false,
     {},
     {"api-extensions"}},
    {"HorizontalPodAutoscalers",
     "/apis/autoscaling/v2",
     "horizontalpodautoscalers",
     "horizontalpodautoscaler",
     "HorizontalPodAutoscaler",
     true,
     {"hpa"},
     {"all"}},
    {"StorageClasses",
     "/apis/storage.k8s.io/v1",
     "storageclasses",
     "storageclass",
     "StorageClass",
     false,
     {"sc"},
     {}},
    {"CertificateSigningRequests",
     "/apis/certificates.k8s.io/v1",
     "certificatesigningrequests",
     "certificatesigningrequest",
     "CertificateSigningRequest",
     false,
     {"csr"},
     {}},
    {"CustomResourceDefinitions",
     "/apis/apiextensions.k8s.io/v1",
     "customresourcedefinitions",
     "customresourcedefinition",
     "CustomResourceDefinition",
     false,
     {"crd", "crds"},
     {"api-extensions"}},
};
INSTANTIATE_TEST_SUITE_P(, ListedResourceTest, ::testing::ValuesIn(listed_resources),
                         [](const auto& resource) { return resource.param.test_name; });

TEST_F(ApiResourceTest, NamespacesDoNotSupportDeletecollection) {
  EXPECT_EQ(FindResource("/api/v1", "namespaces"), json::parse(R"({"name": "namespaces",
                            "singularName": "namespace",
                            "namespaced": false,
                            "kind": "Namespace",
                            "verbs": ["create", "delete", "get", "list", "patch", "update",
                                      "watch"],
                            "shortNames": ["ns"]})"));
}

TEST_F(ApiResourceTest, StatusSubresourceIsListedWithTheKindOfItsResource) {
  EXPECT_EQ(FindResource("/apis/apps/v1", "deployments/status"),
            json::parse(R"({"name": "deployments/status",
                            "singularName": "",
                            "namespaced": true,
                            "kind": "Deployment",
                            "verbs": ["get", "patch", "update"]})"));
}

TEST_F(ApiResourceTest, ScaleSubresourceIsListedWithTheAutoscalingGroup) {
  EXPECT_EQ(FindResource("/apis/apps/v1", "deployments/scale"),
            json::parse(R"({"name": "deployments/scale",
                            "singularName": "",
                            "namespaced": true,
                            "group": "autoscaling",
                            "version": "v1",
                            "kind": "Scale",
                            "verbs": ["get", "patch", "update"]})"));
}

TEST_F(ApiResourceTest, ResourceListOfTheCoreGroupHasNoApiVersion) {
  const JsonResponse core = Get("/api/v1");
  const JsonResponse apps = Get("/apis/apps/v1");

  EXPECT_EQ(core.str("/kind"), "APIResourceList");
  EXPECT_EQ(core.str("/groupVersion"), "v1");
  EXPECT_FALSE(core.body.contains("apiVersion"));
  EXPECT_EQ(apps.str("/groupVersion"), "apps/v1");
  EXPECT_EQ(apps.str("/apiVersion"), "v1");
}

TEST_F(ApiResourceTest, ResourcesAreSortedByName) {
  const json resources = Get("/apis/apps/v1").at("/resources");

  std::vector<std::string> names;
  for (const json& resource : resources) names.push_back(resource["name"]);
  EXPECT_FALSE(names.empty());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

}  // namespace
}  // namespace kopp::conformance
