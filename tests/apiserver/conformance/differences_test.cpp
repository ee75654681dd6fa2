// Where kopp's server is meant to differ from the real one: framework/apiserver/DIFFERENCES.md.
#include "custom_resources.hpp"

#include <algorithm>
#include <string>

namespace kopp::conformance {
namespace {

class DifferencesTest : public ConformanceTest {
 protected:
  /// `kopps` where kopp's server answers, `reals` where the real one does.
  template <typename T>
  static T Either(T kopps, T reals) {
    return IsReal() ? reals : kopps;
  }
};

TEST_F(DifferencesTest, NestingOfAThousandIsTooDeep) {
  const Answer made = Call({.method = "POST",
                            .target = Path("configmaps"),
                            .body = R"({"metadata":{"name":"a"},"x":)" + std::string(1000, '[') +
                                    std::string(1000, ']') + "}"});

  EXPECT_EQ(made.status, Either(400, 201));
}

TEST_F(DifferencesTest, WhatIsOwnedGoesWithItsOwner) {
  const Answer owner = Post(Path("configmaps"), AConfigMap("owner"));
  json child = AConfigMap("child");
  child["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "owner"},
                                           {"uid", owner.str("/metadata/uid")}}};
  Post(Path("configmaps"), child);

  Delete(Path("configmaps") + "/owner");

  EXPECT_EQ(Get(Path("configmaps") + "/child").status, Either(404, 200));
}

TEST_F(DifferencesTest, WithoutAnyOfItsOwnersAnObjectGoes) {
  json child = AConfigMap("child");
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", "u-1"}}};

  Post(Path("configmaps"), child);

  EXPECT_EQ(Get(Path("configmaps") + "/child").status, Either(404, 200));
}

TEST_F(DifferencesTest, AForegroundDeletionComesToItsEnd) {
  Post(Path("configmaps"), AConfigMap("a"));

  Delete(Path("configmaps") + "/a?propagationPolicy=Foreground");

  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Either(404, 200));
}

TEST_F(DifferencesTest, ANamespaceEndsByItself) {
  const std::string self = "/api/v1/namespaces/" + ns();
  Post(Path("configmaps"), AConfigMap("a"));

  Delete(self);

  EXPECT_EQ(Get(self).status, Either(404, 200));
  EXPECT_EQ(Get(Path("configmaps") + "/a").status, Either(404, 200));
}

TEST_F(DifferencesTest, AClaimIsProtectedFromNobody) {
  json claim = AConfigMap("a");
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                   {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  Post(Path("persistentvolumeclaims"), claim);

  Delete(Path("persistentvolumeclaims") + "/a");

  EXPECT_EQ(Get(Path("persistentvolumeclaims") + "/a").status, Either(404, 200));
}

TEST_F(DifferencesTest, WhatNeedsMoreThanAnApiServerIsNotServed) {
  const json resources = Get("/api/v1").at("/resources");
  const auto is_served = [&](const std::string& name) {
    return std::any_of(resources.begin(), resources.end(),
                       [&](const json& each) { return each["name"] == name; });
  };

  for (const char* name : {"pods/binding", "pods/eviction", "pods/ephemeralcontainers", "pods/exec",
                           "pods/log", "pods/resize", "serviceaccounts/token", "services/proxy"}) {
    EXPECT_EQ(is_served(name), Either(false, true)) << name;
  }
}

TEST_F(DifferencesTest, APodNeedsNoServiceAccount) {
  const Answer made = Post("/api/v1/namespaces/" + ns() + "/pods", APod("a"));

  EXPECT_EQ(made.status, Either(201, 403));
}

TEST_F(DifferencesTest, TheDocumentsOfOpenApiTellNoTypes) {
  const Answer document = Get("/openapi/v3/api/v1");

  EXPECT_EQ(document.status, 200);
  EXPECT_EQ(document.body.contains("components"), Either(false, true));
  const Answer old = Get("/openapi/v2");
  ASSERT_TRUE(old.at("/paths").is_object());
  EXPECT_EQ(old.at("/paths").empty(), Either(true, false));
}

TEST_F(DifferencesTest, AStrategicMergePatchIsRefused) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer patched = Call({.method = "PATCH",
                               .target = Path("configmaps") + "/a",
                               .body = R"({"data": {"a": "b"}})",
                               .content_type = "application/strategic-merge-patch+json"});

  EXPECT_EQ(patched.status, Either(415, 200));
}

TEST_F(DifferencesTest, ProtobufIsRefused) {
  const Answer made = Call({.method = "POST",
                            .target = Path("configmaps"),
                            .body = "k8s",
                            .content_type = "application/vnd.kubernetes.protobuf"});

  EXPECT_EQ(made.status, Either(415, 400));
}

TEST_F(DifferencesTest, YamlIsAnsweredWithJson) {
  const Answer list = Call({.target = Path("configmaps"), .accept = "application/yaml"});

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.text.starts_with('{'), Either(true, false));
}

TEST_F(DifferencesTest, NobodyIsAskedWhatTheyMay) {
  const json review{{"spec", {{"resourceAttributes", {{"verb", "get"}, {"resource", "pods"}}}}}};

  const Answer answer = Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review);

  EXPECT_EQ(answer.status, Either(404, 201));
}

TEST_F(DifferencesTest, KindsThatOperatorsHardlyTouchAreNotServed) {
  EXPECT_EQ(Get("/apis/admissionregistration.k8s.io/v1").status, Either(404, 200));
}

TEST_F(DifferencesTest, TheFieldsOfAScheduleAreTakenAsTheyAre) {
  json pod = ADeployment("a")["spec"]["template"];
  pod["spec"]["restartPolicy"] = "Never";
  const json job{{"spec", {{"template", pod}}}};
  const json cron_job{{"metadata", {{"name", "a"}}},
                      {"spec", {{"schedule", "* 25 * * *"}, {"jobTemplate", job}}}};

  EXPECT_EQ(Post(Path("batch/v1", "cronjobs"), cron_job).status, Either(201, 422));
}

TEST_F(DifferencesTest, AffinityIsTakenAsItIs) {
  json deployment = ADeployment("a");
  deployment["spec"]["template"]["spec"]["affinity"] = {
      {"podAffinity",
       {{"requiredDuringSchedulingIgnoredDuringExecution", json::array({{{"topologyKey", ""}}})}}}};

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), deployment).status, Either(201, 422));
}

TEST_F(DifferencesTest, NetworkPoliciesAreTakenAsTheyAre) {
  const json ports{{"ports", json::array({{{"port", 0}}})}};
  const json policy{{"metadata", {{"name", "a"}}},
                    {"spec", {{"podSelector", json::object()}, {"ingress", json::array({ports})}}}};

  EXPECT_EQ(Post(Path("networking.k8s.io/v1", "networkpolicies"), policy).status, Either(201, 422));
}

class CustomDifferencesTest : public DefinitionTest {
 protected:
  static json AStringThat(const json& more) {
    json text{{"type", "string"}};
    text.update(more);
    return AnObject({{"spec", AnObject({{"text", text}})}});
  }
};

TEST_F(CustomDifferencesTest, RulesInCelAreNotEvaluated) {
  Define(AStringThat({{"x-kubernetes-validations", json::array({{{"rule", "self == 'a'"}}})}}));

  EXPECT_EQ(Post(Widgets(), AWidget("a", {{"text", "b"}})).status, IsReal() ? 422 : 201);
}

TEST_F(CustomDifferencesTest, PatternsAreThoseOfEcmaScript) {
  const auto status_with = [](const char* pattern) {
    const std::string group = UniqueGroup();
    return Post(definitions + "?dryRun=All",
                ADefinition(group, AStringThat({{"pattern", pattern}})))
        .status;
  };

  EXPECT_EQ(status_with("(?i)a"), IsReal() ? 201 : 422);
  EXPECT_EQ(status_with("(?=a)"), IsReal() ? 422 : 201);
}

TEST_F(CustomDifferencesTest, NoWebhookConverts) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  json other = definition["spec"]["versions"][0];
  other.update({{"name", "v2"}, {"storage", false}});
  definition["spec"]["versions"].push_back(other);
  definition["spec"]["conversion"] = {{"strategy", "Webhook"},
                                      {"webhook",
                                       {{"clientConfig", {{"url", "https://127.0.0.1:1/"}}},
                                        {"conversionReviewVersions", {"v1"}}}}};
  DefineIn(group, definition);
  Post(Widgets(), AWidget("a"));

  EXPECT_EQ(Get(Widgets("v2") + "/a").status, IsReal() ? 500 : 200);
}

}  // namespace
}  // namespace kopp::conformance
