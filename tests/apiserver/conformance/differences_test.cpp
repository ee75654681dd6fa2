// Intended differences between kopp's API server and a real kube-apiserver. Each test checks the
// behaviour of both servers. The list is framework/apiserver/DIFFERENCES.md.
#include "custom_resources.hpp"

#include <algorithm>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;

class DifferencesTest : public ConformanceTest {
 protected:
  /// Returns the expected value for the server under test: `kopp` for kopp's server, `real` for a
  /// real kube-apiserver.
  template <typename T>
  static T Expected(T kopp, T real) {
    return IsRealServer() ? real : kopp;
  }
};

TEST_F(DifferencesTest, JsonNestedAThousandLevelsDeepIsRejected) {
  const JsonResponse created =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = R"({"metadata":{"name":"a"},"x":)" + std::string(1000, '[') +
                    std::string(1000, ']') + "}"});

  EXPECT_EQ(created.status, Expected(400, 201));
}

TEST_F(DifferencesTest, LongQuantitiesAreRejectedAndLargeOnesKeepTheirDigits) {
  const auto response_with = [&](const std::string& amount) {
    json quota = MakeObjectWithName("a");
    quota["spec"]["hard"] = {{"memory", amount}};
    return Post(Path("resourcequotas") + "?dryRun=All", quota);
  };

  EXPECT_EQ(response_with(std::string(38, '9')).status, Expected(400, 201));
  EXPECT_EQ(response_with("1000E").str("/spec/hard/memory"), IsRealServer() ? "1" : "1000E");
}

TEST_F(DifferencesTest, AClusterIpMayBeOutsideOfTheRange) {
  json service = MakeObjectWithName("a");
  service["spec"] = R"({"clusterIP": "10.96.0.10", "ports": [{"port": 80}]})"_json;

  EXPECT_EQ(Post(Path("services"), service).status, Expected(201, 422));
}

TEST_F(DifferencesTest, ADryRunChecksTheRangeOfNodePorts) {
  json service = MakeObjectWithName("a");
  service["spec"] =
      R"({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30180},
                                        {"name": "b", "port": 81, "nodePort": 128}]})"_json;

  EXPECT_EQ(Post(Path("services") + "?dryRun=All", service).status, Expected(422, 201));
}

TEST_F(DifferencesTest, TheLabelsThatAJobTakesFromItsTemplateBelongToNobody) {
  json job = MakeObjectWithName("a");
  job["spec"]["template"] = R"({"metadata": {"labels": {"a": "b"}}, "spec": {
      "restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}})"_json;
  const JsonResponse created = Post(Path("batch/v1", "jobs"), job);

  EXPECT_EQ(created.str("/metadata/labels/a"), "b");
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1").contains("f:metadata"),
            IsRealServer());
}

TEST_F(DifferencesTest, AnEmptyListOfScalingPoliciesHasTheDefault) {
  json autoscaler = MakeObjectWithName("a");
  autoscaler["spec"] =
      R"({"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "A", "name": "a"},
          "behavior": {"scaleUp": {"policies": []}}})"_json;

  EXPECT_EQ(Post(Path("autoscaling/v2", "horizontalpodautoscalers"), autoscaler).status,
            Expected(201, 422));
}

TEST_F(DifferencesTest, TheFormOfEachQuantityIsCanonical) {
  json pods = MakeObjectWithName("a");
  pods["template"]["spec"] = {{"containers", {{{"name", "a"}, {"image", "a"}}}},
                              {"volumes", {{{"name", "a"}, {"emptyDir", {{"sizeLimit", "1E3"}}}}}}};

  EXPECT_EQ(Post(Path("podtemplates"), pods).str("/template/spec/volumes/0/emptyDir/sizeLimit"),
            IsRealServer() ? "1E3" : "1e3");
}

TEST_F(DifferencesTest, DeletingAnOwnerAlsoDeletesItsDependents) {
  const JsonResponse owner = Post(Path("configmaps"), MakeConfigMap("owner"));
  json child = MakeConfigMap("child");
  child["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "owner"},
                                           {"uid", owner.str("/metadata/uid")}}};
  Post(Path("configmaps"), child);

  Delete(Path("configmaps") + "/owner");

  EXPECT_EQ(Get(Path("configmaps") + "/child").status, Expected(404, 200));
}

TEST_F(DifferencesTest, AnObjectWhoseOwnersDoNotExistIsDeletedOnCreate) {
  json child = MakeConfigMap("child");
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", "u-1"}}};

  Post(Path("configmaps"), child);

  EXPECT_EQ(Get(Path("configmaps") + "/child").status, Expected(404, 200));
}

TEST_F(DifferencesTest, ForegroundDeletionRemovesAnObjectWithoutDependents) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  Delete(Path("configmaps") + "/a?propagationPolicy=Foreground");

  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Expected(404, 200));
}

TEST_F(DifferencesTest, DeletingANamespaceRemovesItAndItsObjects) {
  const std::string namespace_path = "/api/v1/namespaces/" + ns();
  Post(Path("configmaps"), MakeConfigMap("a"));

  Delete(namespace_path);

  EXPECT_EQ(Get(namespace_path).status, Expected(404, 200));
  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Expected(404, 200));
}

TEST_F(DifferencesTest, DeletingAPersistentVolumeClaimIgnoresItsProtectionFinalizer) {
  json claim = MakeObjectWithName("a");
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                   {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  Post(Path("persistentvolumeclaims"), claim);

  Delete(Path("persistentvolumeclaims") + "/a");

  EXPECT_EQ(Get(Path("persistentvolumeclaims") + "/a").status, Expected(404, 200));
}

TEST_F(DifferencesTest, SubresourcesThatNeedOtherComponentsAreNotServed) {
  const json resources = Get("/api/v1").at("/resources");
  const auto is_served = [&](const std::string& name) {
    return std::any_of(resources.begin(), resources.end(),
                       [&](const json& resource) { return resource["name"] == name; });
  };

  for (const char* name : {"pods/attach", "pods/exec", "pods/log", "pods/portforward", "pods/proxy",
                           "pods/resize", "nodes/proxy", "services/proxy"}) {
    EXPECT_EQ(is_served(name), Expected(false, true)) << name;
  }
}

TEST_F(DifferencesTest, APodIsCreatedWithoutAServiceAccount) {
  const JsonResponse created = Post("/api/v1/namespaces/" + ns() + "/pods", MakePod("a"));

  EXPECT_EQ(created.status, Expected(201, 403));
}

TEST_F(DifferencesTest, OpenApiDocumentsContainOnlyTheOperationsThatKubectlLooksUp) {
  const json paths = Get("/openapi/v3/api/v1").at("/paths");

  EXPECT_TRUE(paths.at("/api/v1/nodes/{name}").contains("get"));
  EXPECT_EQ(paths.at("/api/v1/nodes").contains("get"), Expected(false, true));
}

TEST_F(DifferencesTest, OpenApiV2IsEmpty) {
  const JsonResponse v2 = Get("/openapi/v2");
  ASSERT_TRUE(v2.at("/paths").is_object());
  EXPECT_EQ(v2.at("/paths").empty(), Expected(true, false));
}

TEST_F(DifferencesTest, ListThatAcceptsOnlyYamlReturnsJson) {
  const JsonResponse list = Call({.target = Path("configmaps"), .accept = "application/yaml"});

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.text.starts_with('{'), Expected(true, false));
}

TEST_F(DifferencesTest, MetricsContainOnlyTheCountsOfRequests) {
  Get("/api/v1/namespaces");
  const std::string metrics = Get("/metrics").text;

  EXPECT_THAT(metrics, HasSubstr("# TYPE apiserver_request_total "));
  EXPECT_EQ(metrics.find("# TYPE process_cpu_seconds_total ") != std::string::npos,
            Expected(false, true));
}

TEST_F(DifferencesTest, HealthChecksHaveNoStartHooks) {
  EXPECT_EQ(Get("/livez?verbose").text.find("poststarthook") != std::string::npos,
            Expected(false, true));
}

TEST_F(DifferencesTest, TokensAreSignedWithASecretKey) {
  Post(Path("serviceaccounts"), MakeObjectWithName("a"));

  const std::string token =
      Post(Path("serviceaccounts") + "/a/token", json::object()).str("/status/token");

  const std::string hs256 = "eyJhbGciOiJIUzI1NiI";  // {"alg":"HS256" in Base64
  EXPECT_EQ(token.starts_with(hs256), Expected(true, false));
}

TEST_F(DifferencesTest, AggregatedClusterRoleGivesTheRulesOfTheSelectedRoles) {
  Post(Path("rbac.authorization.k8s.io/v1", "rolebindings"),
       {{"metadata", {{"name", "view"}}},
        {"subjects",
         {{{"kind", "User"}, {"name", "viewer"}, {"apiGroup", "rbac.authorization.k8s.io"}}}},
        {"roleRef",
         {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "view"}}}});

  EXPECT_EQ(CallAs({.user = "viewer"}, {.target = Path("configmaps")}).status, Expected(200, 403));
  EXPECT_EQ(Get("/apis/rbac.authorization.k8s.io/v1/clusterroles/view").at("/rules"), json());
}

TEST_F(DifferencesTest, KindsThatOperatorsRarelyUseAreNotServed) {
  for (const char* group_version : {"resource.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1"}) {
    EXPECT_EQ(Get(std::string("/apis/") + group_version).status, Expected(404, 200));
  }
}

TEST_F(DifferencesTest, HorizontalPodAutoscalersAreServedInOneVersion) {
  EXPECT_EQ(Get("/apis/autoscaling/v1/horizontalpodautoscalers").status, Expected(404, 200));
}

TEST_F(DifferencesTest, TheContentOfACertificateRequestIsNotParsed) {
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const std::string name = UniqueName("request");
  const JsonResponse response = Post(
      requests, {{"metadata", {{"name", name}}},
                 {"spec",
                  {{"request",  // an empty PEM block of the type CERTIFICATE REQUEST
                    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUg"
                    "UkVRVUVTVC0tLS0tCg=="},
                   {"signerName", "example.com/a"},
                   {"usages", {"any"}}}}});

  EXPECT_EQ(response.status, Expected(201, 422));
  Delete(requests + '/' + name);
}

TEST_F(DifferencesTest, TheScheduleOfACronJobIsNotValidated) {
  json pod = MakeDeployment("a")["spec"]["template"];
  pod["spec"]["restartPolicy"] = "Never";
  const json job{{"spec", {{"template", pod}}}};
  const json cron_job{{"metadata", {{"name", "a"}}},
                      {"spec", {{"schedule", "* 25 * * *"}, {"jobTemplate", job}}}};

  EXPECT_EQ(Post(Path("batch/v1", "cronjobs"), cron_job).status, Expected(201, 422));
}

TEST_F(DifferencesTest, TheRulesOfANetworkPolicyAreNotValidated) {
  const json ports{{"ports", json::array({{{"port", 0}}})}};
  const json policy{{"metadata", {{"name", "a"}}},
                    {"spec", {{"podSelector", json::object()}, {"ingress", json::array({ports})}}}};

  EXPECT_EQ(Post(Path("networking.k8s.io/v1", "networkpolicies"), policy).status,
            Expected(201, 422));
}

class CustomResourceDifferencesTest : public CrdPerTest {
 protected:
  /// Schema of an object whose spec.text is a string with the extra schema members `constraints`.
  static json TextFieldSchema(const json& constraints) {
    json text{{"type", "string"}};
    text.update(constraints);
    return ObjectSchema({{"spec", ObjectSchema({{"text", text}})}});
  }
};

TEST_F(CustomResourceDifferencesTest, ACustomResourceInAProtobufBodyIsRejected) {
  CreateCrd(AnyObjectSchema());
  const std::string version = group() + "/v1";
  const std::string type =
      "\x0a" + std::string(1, static_cast<char>(version.size())) + version + "\x12\x06Widget";
  const auto status_of_create = [&] {
    try {
      return Call({.method = "POST",
                   .target = Widgets(),
                   .body = std::string("k8s\0", 4) + "\x0a" + static_cast<char>(type.size()) + type,
                   .content_type = "application/vnd.kubernetes.protobuf"})
          .status;
    } catch (const TransportError&) {
      return 0;  // the connection was closed without a response
    }
  };

  EXPECT_EQ(status_of_create(), IsRealServer() ? 0 : 415);
}

TEST_F(CustomResourceDifferencesTest, CelValidationRulesAreNotEvaluated) {
  CreateCrd(
      TextFieldSchema({{"x-kubernetes-validations", json::array({{{"rule", "self == 'a'"}}})}}));

  EXPECT_EQ(Post(Widgets(), MakeWidget("a", {{"text", "b"}})).status, IsRealServer() ? 422 : 201);
}

TEST_F(CustomResourceDifferencesTest, TheConversionWebhookIsNotCalled) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  json v2 = crd["spec"]["versions"][0];
  v2.update({{"name", "v2"}, {"storage", false}});
  crd["spec"]["versions"].push_back(v2);
  crd["spec"]["conversion"] = {{"strategy", "Webhook"},
                               {"webhook",
                                {{"clientConfig", {{"url", "https://127.0.0.1:1/"}}},
                                 {"conversionReviewVersions", {"v1"}}}}};
  CreateCrdInGroup(group, crd);
  Post(Widgets(), MakeWidget("a"));

  EXPECT_EQ(Get(Widgets("v2") + "/a").status, IsRealServer() ? 500 : 200);
}

}  // namespace
}  // namespace kopp::conformance
