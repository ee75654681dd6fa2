// The objects that every new cluster has.
#include "kinds/kinds.hpp"

#include <algorithm>

namespace kopp::conformance {
namespace {

class SystemObjectTest : public KindTest {};

TEST_F(SystemObjectTest, TheServiceOfTheApiServerExists) {
  const JsonResponse service = Get("/api/v1/namespaces/default/services/kubernetes");

  json spec = service.at("/spec");
  ASSERT_TRUE(spec.is_object()) << service.text;
  spec["ports"][0].erase("targetPort");  // the port of the server
  EXPECT_EQ(spec, R"({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
                      "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"],
                      "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
                      "ports": [{"name": "https", "port": 443, "protocol": "TCP"}],
                      "type": "ClusterIP"})"_json);
  EXPECT_EQ(service.at("/metadata/labels"),
            R"({"component": "apiserver", "provider": "kubernetes"})"_json);
}

TEST_F(SystemObjectTest, TheRoleOfAdministratorsExists) {
  const std::string group = "/apis/rbac.authorization.k8s.io/v1/";
  const JsonResponse role = Get(group + "clusterroles/cluster-admin");
  const JsonResponse binding = Get(group + "clusterrolebindings/cluster-admin");

  EXPECT_EQ(role.at("/rules"), R"([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
                                   {"verbs": ["*"], "nonResourceURLs": ["*"]}])"_json);
  EXPECT_EQ(binding.at("/subjects"), R"([{"kind": "Group", "name": "system:masters",
                                          "apiGroup": "rbac.authorization.k8s.io"}])"_json);
  EXPECT_EQ(binding.at("/roleRef"), R"({"kind": "ClusterRole", "name": "cluster-admin",
                                        "apiGroup": "rbac.authorization.k8s.io"})"_json);
  for (const JsonResponse& object : {role, binding}) {
    EXPECT_EQ(object.at("/metadata/labels"),
              R"({"kubernetes.io/bootstrapping": "rbac-defaults"})"_json);
    EXPECT_EQ(object.at("/metadata/annotations"),
              R"({"rbac.authorization.kubernetes.io/autoupdate": "true"})"_json);
  }
}

TEST_F(SystemObjectTest, TheSystemPriorityClassesExist) {
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses/";

  EXPECT_EQ(Get(classes + "system-cluster-critical").at("/value"), 2000000000);
  EXPECT_EQ(Get(classes + "system-node-critical").at("/value"), 2000001000);
}

TEST_F(SystemObjectTest, DeletingASystemPriorityClassIsForbidden) {
  const JsonResponse deleted =
      Delete("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");

  EXPECT_EQ(deleted.status, 403);
  EXPECT_EQ(deleted.message(),
            "priorityclasses.scheduling.k8s.io \"system-node-critical\" is forbidden: this is a "
            "system priority class and cannot be deleted");
}

TEST_F(SystemObjectTest, EachBuiltInApiGroupHasAnAvailableApiService) {
  for (const char* name : {"v1.", "v1.apps", "v1.admissionregistration.k8s.io", "v2.autoscaling",
                           "v1.storage.k8s.io"}) {
    const JsonResponse service =
        Get(std::string("/apis/apiregistration.k8s.io/v1/apiservices/") + name);
    EXPECT_EQ(service.str("/status/conditions/0/status"), "True") << name;
    EXPECT_EQ(service.str("/metadata/labels/kube-aggregator.kubernetes.io~1automanaged"),
              "onstart");
  }
  EXPECT_EQ(Get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps").at("/spec"),
            R"({"group": "apps", "version": "v1", "groupPriorityMinimum": 17800,
                "versionPriority": 15})"_json);
}

}  // namespace
}  // namespace kopp::conformance
