#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// The fields that a client sends on create, and the fields that the server stores, both without
/// metadata.
struct DefaultedObject {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  json sent{};
  json stored{};

  friend void PrintTo(const DefaultedObject& object, std::ostream* out) { *out << object.sent; }
};

/// Fixture of tests of the defaults that the server sets on create.
class DefaultsTest : public ConformanceTest, public ::testing::WithParamInterface<DefaultedObject> {
 protected:
  /// Returns the stored object without kind, apiVersion and metadata, which every kind has.
  static json StoredFields(const JsonResponse& response) {
    json fields = response.body;
    for (const char* field : {"kind", "apiVersion", "metadata"}) fields.erase(field);
    return fields;
  }
};

TEST_P(DefaultsTest, CreateStoresTheDefaultsOfTheKind) {
  const auto& [test, group_version, plural, sent, stored] = GetParam();
  json object = MakeObjectWithName("a");
  object.update(sent);
  const JsonResponse created =
      Post(group_version == "v1" ? Path(plural) : Path(group_version, plural), object);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(StoredFields(created), stored);
}

const DefaultedObject defaulted_objects[] = {
    {"ConfigMap", "v1", "configmaps", R"({"data": {"a": "b"}, "binaryData": {"x": "AAE="}})"_json,
     R"({"data": {"a": "b"}, "binaryData": {"x": "AAE="}})"_json},
    {"SecretTypeIsOpaque", "v1", "secrets", R"({})"_json, R"({"type": "Opaque"})"_json},
    {"SecretStringDataIsMergedIntoData", "v1", "secrets",
     R"({"stringData": {"a": "b", "c": "d"}, "data": {"a": "eg==", "e": "eg=="}})"_json,
     R"({"type": "Opaque", "data": {"a": "Yg==", "c": "ZA==", "e": "eg=="}})"_json},
    {"ServiceAccount", "v1", "serviceaccounts", R"({})"_json, R"({})"_json},
    {"EndpointsPortProtocolIsTcp", "v1", "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]})"_json,
     R"({"subsets": [{"addresses": [{"ip": "10.0.0.1"}],
                      "ports": [{"port": 80, "protocol": "TCP"}]}]})"_json},
    {"HeadlessService", "v1", "services",
     R"({"spec": {"clusterIP": "None", "ports": [{"port": 80}], "selector": {"a": "b"}}})"_json,
     R"({
       "spec": {
         "clusterIP": "None",
         "clusterIPs": ["None"],
         "internalTrafficPolicy": "Cluster",
         "ipFamilies": ["IPv4"],
         "ipFamilyPolicy": "SingleStack",
         "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
         "selector": {"a": "b"},
         "sessionAffinity": "None",
         "type": "ClusterIP"
       },
       "status": {"loadBalancer": {}}
     })"_json},
    {"ExternalNameService", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com"}})"_json,
     R"({
       "spec": {"type": "ExternalName", "externalName": "example.com", "sessionAffinity": "None"},
       "status": {"loadBalancer": {}}
     })"_json},
    {"ConfigurationOfAnUnusedSessionAffinityIsRemoved", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com",
                  "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}})"_json,
     R"({
       "spec": {"type": "ExternalName", "externalName": "example.com", "sessionAffinity": "None"},
       "status": {"loadBalancer": {}}
     })"_json},
    {"EmptyConfigurationOfASessionAffinityIsCompleted", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com",
                  "sessionAffinity": "ClientIP", "sessionAffinityConfig": {}}})"_json,
     R"({
       "spec": {
         "type": "ExternalName",
         "externalName": "example.com",
         "sessionAffinity": "ClientIP",
         "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}
       },
       "status": {"loadBalancer": {}}
     })"_json},
    {"GroupOfABackendIsNull", "networking.k8s.io/v1", "ingresses",
     R"({"spec": {"defaultBackend": {"resource": {"kind": "A", "name": "a"}}}})"_json,
     R"({"spec": {"defaultBackend": {"resource": {"apiGroup": null, "kind": "A", "name": "a"}}},
         "status": {"loadBalancer": {}}})"_json},
    {"TargetPortZeroOfAServiceIsItsPort", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com",
                  "ports": [{"port": 80, "targetPort": 0}]}})"_json,
     R"({
       "spec": {
         "type": "ExternalName",
         "externalName": "example.com",
         "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
         "sessionAffinity": "None"
       },
       "status": {"loadBalancer": {}}
     })"_json},
    {"EmptyTargetPortOfAServiceIsItsPort", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com",
                  "ports": [{"port": 80, "targetPort": ""}]}})"_json,
     R"({
       "spec": {
         "type": "ExternalName",
         "externalName": "example.com",
         "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
         "sessionAffinity": "None"
       },
       "status": {"loadBalancer": {}}
     })"_json},
    {"PersistentVolumeClaim", "v1", "persistentvolumeclaims",
     R"({"spec": {"accessModes": ["ReadWriteOnce"],
                  "resources": {"requests": {"storage": "1Gi"}}}})"_json,
     R"({
       "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "volumeMode": "Filesystem"},
       "status": {"phase": "Pending"}
     })"_json},
    {"EmptyLease", "coordination.k8s.io/v1", "leases", R"({})"_json, R"({"spec": {}})"_json},
    {"Lease", "coordination.k8s.io/v1", "leases",
     R"({"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
                  "renewTime": "2026-01-02T03:04:05.000006Z"}})"_json,
     R"({"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
                  "renewTime": "2026-01-02T03:04:05.000006Z"}})"_json},
    {"RoleWithoutRules", "rbac.authorization.k8s.io/v1", "roles", R"({})"_json,
     R"({"rules": null})"_json},
    {"EmptyApiGroupOfARoleReference", "rbac.authorization.k8s.io/v1", "rolebindings",
     R"({"roleRef": {"apiGroup": "", "kind": "ClusterRole", "name": "view"}})"_json,
     R"({
       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
     })"_json},
    {"RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings",
     R"({"roleRef": {"kind": "Role", "name": "r"},
         "subjects": [{"kind": "ServiceAccount", "name": "s"}, {"kind": "User", "name": "u"}]})"_json,
     R"({
       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
       "subjects": [
         {"kind": "ServiceAccount", "name": "s"},
         {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}
       ]
     })"_json},
    {"Ingress", "networking.k8s.io/v1", "ingresses",
     R"({"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}})"_json,
     R"({
       "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
       "status": {"loadBalancer": {}}
     })"_json},
    {"NetworkPolicy", "networking.k8s.io/v1", "networkpolicies",
     R"({"spec": {"podSelector": {}}})"_json,
     R"({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}})"_json},
    {"NetworkPolicyWithEgress", "networking.k8s.io/v1", "networkpolicies",
     R"({"spec": {"podSelector": {}, "egress": [{}], "ingress": [{"ports": [{"port": 80}]}]}})"_json,
     R"({"spec": {"podSelector": {}, "egress": [{}],
                  "ingress": [{"ports": [{"port": 80, "protocol": "TCP"}]}],
                  "policyTypes": ["Ingress", "Egress"]}})"_json},
    {"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets",
     R"({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}})"_json,
     R"({
       "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}},
       "status": {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0,
                  "expectedPods": 0}
     })"_json},
};
INSTANTIATE_TEST_SUITE_P(, DefaultsTest, ::testing::ValuesIn(defaulted_objects),
                         [](const auto& object) { return object.param.test_name; });

/// Fixture of tests of Events. The core group and events.k8s.io serve the same objects with
/// different field names.
class EventTest : public DefaultsTest {
 protected:
  std::string CoreEvents() { return Path("events"); }
  std::string NewEvents() { return Path("events.k8s.io/v1", "events"); }
  json PodReference() { return {{"kind", "Pod"}, {"name", "p"}, {"namespace", ns()}}; }
};

TEST_F(EventTest, CreatedCoreEventHasTheReportingFieldsAndEventTime) {
  const JsonResponse created =
      Post(CoreEvents(), {{"metadata", {{"name", "a"}}},
                          {"involvedObject", PodReference()},
                          {"reason", "R"},
                          {"message", "M"},
                          {"type", "Normal"},
                          {"count", 2},
                          {"firstTimestamp", "2026-01-02T03:04:05Z"},
                          {"lastTimestamp", "2026-01-02T03:04:06Z"},
                          {"source", {{"component", "c"}, {"host", "h"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(StoredFields(created), json({{"involvedObject", PodReference()},
                                         {"reason", "R"},
                                         {"message", "M"},
                                         {"type", "Normal"},
                                         {"count", 2},
                                         {"firstTimestamp", "2026-01-02T03:04:05Z"},
                                         {"lastTimestamp", "2026-01-02T03:04:06Z"},
                                         {"eventTime", nullptr},
                                         {"source", {{"component", "c"}, {"host", "h"}}},
                                         {"reportingComponent", ""},
                                         {"reportingInstance", ""}}));
}

TEST_F(EventTest, ASeriesHasATimeAndAtLeastTwoEvents) {
  const JsonResponse response =
      Post(Path("events.k8s.io/v1", "events"), {{"metadata", {{"name", "series"}}},
                                                {"regarding", {{"namespace", ns()}}},
                                                {"eventTime", "2026-01-02T03:04:05.000006Z"},
                                                {"reportingController", "example.com/c"},
                                                {"reportingInstance", "i"},
                                                {"action", "a"},
                                                {"reason", "r"},
                                                {"type", "Normal"},
                                                {"series", {{"count", 1}}}});

  EXPECT_THAT(response.message(), ::testing::StartsWith(R"(Event "series" is invalid: )"));
  EXPECT_EQ(response.at("/details/group"), nullptr);
  EXPECT_THAT(Causes(response),
              ::testing::ElementsAre(
                  R"(FieldValueInvalid series.count: Invalid value: "": should be at least 2)",
                  "FieldValueRequired series.lastObservedTime: Required value"));
}

TEST_F(EventTest, CoreEventIsReadableInTheEventsGroup) {
  Post(CoreEvents(), {{"metadata", {{"name", "a"}}},
                      {"involvedObject", PodReference()},
                      {"message", "M"},
                      {"count", 2},
                      {"firstTimestamp", "2026-01-02T03:04:05Z"},
                      {"lastTimestamp", "2026-01-02T03:04:06Z"},
                      {"source", {{"component", "c"}, {"host", "h"}}}});
  const JsonResponse response = Get(NewEvents() + "/a");

  EXPECT_EQ(response.str("/apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(StoredFields(response),
            json({{"regarding", PodReference()},
                  {"note", "M"},
                  {"eventTime", nullptr},
                  {"deprecatedCount", 2},
                  {"deprecatedFirstTimestamp", "2026-01-02T03:04:05Z"},
                  {"deprecatedLastTimestamp", "2026-01-02T03:04:06Z"},
                  {"deprecatedSource", {{"component", "c"}, {"host", "h"}}}}));
}

TEST_F(EventTest, EventOfTheEventsGroupIsReadableInTheCoreGroup) {
  const JsonResponse created = Post(NewEvents(), {{"metadata", {{"name", "a"}}},
                                                  {"regarding", PodReference()},
                                                  {"reason", "R"},
                                                  {"note", "M"},
                                                  {"type", "Normal"},
                                                  {"action", "A"},
                                                  {"eventTime", "2026-01-02T03:04:05.000006Z"},
                                                  {"reportingController", "example.com/c"},
                                                  {"reportingInstance", "i"}});
  const JsonResponse response = Get(CoreEvents() + "/a");

  EXPECT_EQ(response.str("/apiVersion"), "v1");
  EXPECT_EQ(response.str("/metadata/uid"), created.str("/metadata/uid"));
  EXPECT_EQ(StoredFields(response), json({{"involvedObject", PodReference()},
                                          {"reason", "R"},
                                          {"message", "M"},
                                          {"type", "Normal"},
                                          {"action", "A"},
                                          {"eventTime", "2026-01-02T03:04:05.000006Z"},
                                          {"firstTimestamp", nullptr},
                                          {"lastTimestamp", nullptr},
                                          {"source", json::object()},
                                          {"reportingComponent", "example.com/c"},
                                          {"reportingInstance", "i"}}));
}

/// Fixture of tests of PersistentVolumeClaims.
class PersistentVolumeClaimTest : public ConformanceTest {
 protected:
  JsonResponse CreateClaim() {
    return Post(Path("persistentvolumeclaims"),
                R"({"metadata": {"name": "a"},
                    "spec": {"accessModes": ["ReadWriteOnce"],
                             "resources": {"requests": {"storage": "1Gi"}}}})"_json);
  }
};

TEST_F(PersistentVolumeClaimTest, KindIsSerializedOnceInAnObjectAndNotInListItems) {
  const std::string claims = Path("persistentvolumeclaims");
  CreateClaim();

  const std::string claim = Get(claims + "/a").text;
  EXPECT_EQ(claim.find(R"("kind":"PersistentVolumeClaim")"),
            claim.rfind(R"("kind":"PersistentVolumeClaim")"));
  EXPECT_EQ(Get(claims).at("/items/0/kind"), nullptr);
}

TEST_F(PersistentVolumeClaimTest, DataSourceAndItsReferenceGetTheSameValue) {
  const json snapshot{
      {"apiGroup", "snapshot.storage.k8s.io"}, {"kind", "VolumeSnapshot"}, {"name", "s"}};
  const json other{{"apiGroup", "example.com"}, {"kind", "Backup"}, {"name", "b"}};
  const auto created = [&](const json& sources) {
    json claim = R"({"metadata": {"generateName": "a-"},
                     "spec": {"accessModes": ["ReadWriteOnce"],
                              "resources": {"requests": {"storage": "1Gi"}}}})"_json;
    claim["spec"].update(sources);
    const json spec = Post(Path("persistentvolumeclaims"), claim).at("/spec");
    return std::pair(spec.value("dataSource", json()), spec.value("dataSourceRef", json()));
  };

  EXPECT_EQ(created({{"dataSource", snapshot}}), std::pair(snapshot, snapshot));
  EXPECT_EQ(created({{"dataSourceRef", snapshot}}), std::pair(snapshot, snapshot));
  EXPECT_EQ(created({{"dataSourceRef", other}}), std::pair(other, other));
  EXPECT_EQ(created({{"dataSource", other}}), std::pair(json(), json()));
}

TEST_F(PersistentVolumeClaimTest, TheSpecOfAnUnboundClaimIsImmutable) {
  CreateClaim();
  const JsonResponse response = MergePatch(
      Path("persistentvolumeclaims") + "/a",
      {{"spec", {{"resources", {{"requests", {{"storage", "2Gi"}}}}}, {"volumeMode", "Block"}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ::testing::ElementsAre(
                  ::testing::StartsWith("FieldValueForbidden spec: Forbidden: spec is immutable "
                                        "after creation except resources.requests and "
                                        "volumeAttributesClassName for bound claims\n"),
                  R"(FieldValueInvalid volumeMode: Invalid value: "Block": field is immutable)"));
}

TEST_F(PersistentVolumeClaimTest, ABoundClaimMayGrow) {
  const std::string classes = "/apis/storage.k8s.io/v1/storageclasses";
  const std::string name = UniqueName("resizable");
  Post(classes, {{"metadata", {{"name", name}}},
                 {"provisioner", "example.com/p"},
                 {"allowVolumeExpansion", true}});
  Post(Path("persistentvolumeclaims"), {{"metadata", {{"name", "a"}}},
                                        {"spec",
                                         {{"accessModes", {"ReadWriteOnce"}},
                                          {"storageClassName", name},
                                          {"volumeName", "v"},
                                          {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  const std::string path = Path("persistentvolumeclaims") + "/a";
  MergePatch(path + "/status",
             {{"status", {{"phase", "Bound"}, {"capacity", {{"storage", "1Gi"}}}}}});
  const auto resized = [&](const char* size) {
    return MergePatch(path, {{"spec", {{"resources", {{"requests", {{"storage", size}}}}}}}});
  };

  // kube-apiserver learns of the class by a watch.
  EXPECT_EQ(Eventually(200, [&] { return resized("2Gi"); }).status, 200);
  EXPECT_THAT(Causes(resized("1Gi")),
              ::testing::ElementsAre("FieldValueForbidden spec.resources.requests.storage: "
                                     "Forbidden: field can not be less than status.capacity"));
  Delete(classes + '/' + name);
}

/// Fixture of tests of workloads and Services.
class ServerFieldsTest : public ConformanceTest {};

TEST_F(ServerFieldsTest, AStatefulSetMountsTheVolumesOfItsClaims) {
  json set = R"({"metadata": {"name": "a"}, "spec": {"serviceName": "a",
      "selector": {"matchLabels": {"a": "b"}},
      "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
        {"name": "c", "image": "c", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
      "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}})"_json;
  const JsonResponse created = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/spec/template/spec/volumes"), nullptr);
}

TEST_F(ServerFieldsTest, AJobWithoutLabelsGetsTheLabelsOfItsPods) {
  const json pod =
      R"({"restartPolicy": "Never", "containers": [{"name": "c", "image": "c"}]})"_json;
  const auto labels_of_job = [&](const json& metadata) {
    return Post(Path("batch/v1", "jobs"),
                {{"metadata", metadata},
                 {"spec",
                  {{"template", {{"metadata", {{"labels", {{"x", "y"}}}}}, {"spec", pod}}}}}})
        .at("/metadata/labels");
  };

  const json from_template = labels_of_job({{"name", "a"}});
  EXPECT_EQ(from_template.value("x", ""), "y");
  EXPECT_EQ(from_template.value("batch.kubernetes.io/job-name", ""), "a");
  EXPECT_EQ(labels_of_job({{"name", "b"}, {"labels", {{"x", "y"}}}}), json({{"x", "y"}}));
}

TEST_F(ServerFieldsTest, TheImageOfAContainerDecidesOnItsPullPolicy) {
  const auto policy = [&](const std::string& image) {
    json pod_template = {{"metadata", {{"generateName", "a-"}}}};
    pod_template["template"]["spec"]["containers"] = {{{"name", "c"}, {"image", image}}};
    return Post(Path("podtemplates"), pod_template)
        .str("/template/spec/containers/0/imagePullPolicy");
  };

  for (const char* latest :
       {"a", "a:latest", "example.com:5000/a", "a_b/c-d.e:latest", "localhost/a"})
    EXPECT_EQ(policy(latest), "Always") << latest;
  for (const char* other :
       {"a:1", "UPPER", "a b", "a//b", "/a", "a=", "-a",
        "a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"})
    EXPECT_EQ(policy(other), "IfNotPresent") << other;
}

TEST_F(ServerFieldsTest, DubiousPodsCauseWarnings) {
  json deployment = MakeDeployment("a");
  json& container = deployment.at("/spec/template/spec/containers/0"_json_pointer);
  container["env"] = R"([{"name": "A", "value": "1"}, {"name": "B", "value": "2"},
                         {"name": "A", "value": "$(A)3"}, {"name": "B", "value": "4"}])"_json;
  const std::vector<std::string> warnings{
      R"(spec.template.spec.containers[0].env[3]: hides previous definition of "B", which may be )"
      "dropped when using apply"};
  const std::string path = Path("apps/v1", "deployments");

  EXPECT_EQ(Post(path, deployment).warnings, warnings);
  EXPECT_EQ(MergePatch(path + "/a", {{"spec", {{"replicas", 2}}}}).warnings, warnings);
  EXPECT_TRUE(MergePatch(path + "/a", {{"metadata", {{"labels", {{"a", "b"}}}}}}).warnings.empty());
}

TEST_F(ServerFieldsTest, AServiceLosesTheFieldsOfItsOldType) {
  const JsonResponse created =
      Post(Path("services"), R"({"metadata": {"name": "a"}, "spec": {"type": "LoadBalancer",
          "loadBalancerClass": "example.com/a", "externalTrafficPolicy": "Local",
          "ports": [{"port": 80}]}})"_json);
  EXPECT_NE(created.at("/spec/healthCheckNodePort"), nullptr);
  const JsonResponse changed =
      MergePatch(Path("services") + "/a", {{"spec", {{"type", "ClusterIP"}}}});

  EXPECT_EQ(changed.status, 200) << changed.text;
  for (const char* field : {"healthCheckNodePort", "externalTrafficPolicy", "loadBalancerClass",
                            "allocateLoadBalancerNodePorts", "ports/0/nodePort"})
    EXPECT_EQ(changed.at(std::string("/spec/") + field), nullptr) << field;
}

TEST_F(ServerFieldsTest, AServiceWithExternalIpsHasATrafficPolicy) {
  const JsonResponse created =
      Post(Path("services"), R"({"metadata": {"name": "a"}, "spec": {"externalIPs": ["10.1.2.3"],
                                 "ports": [{"port": 80}]}})"_json);
  EXPECT_EQ(created.str("/spec/externalTrafficPolicy"), "Cluster");
}

TEST_F(ServerFieldsTest, AHeadlessServiceWithoutSelectorHasBothFamilies) {
  const JsonResponse created =
      Post(Path("services"), R"({"metadata": {"name": "a"}, "spec": {"clusterIP": "None"}})"_json);
  EXPECT_EQ(created.at("/spec/ipFamilies"), json({"IPv4", "IPv6"}));
  EXPECT_EQ(created.str("/spec/ipFamilyPolicy"), "RequireDualStack");
}

TEST_F(ServerFieldsTest, ANewClaimGetsTheNewestDefaultStorageClass) {
  const std::string classes = "/apis/storage.k8s.io/v1/storageclasses";
  const std::string name = UniqueName("default");
  const JsonResponse storage_class =
      Post(classes, {{"metadata",
                      {{"name", name},
                       {"annotations", {{"storageclass.kubernetes.io/is-default-class", "true"}}}}},
                     {"provisioner", "example.com/p"}});
  ASSERT_EQ(storage_class.status, 201);
  const auto class_of_claim = [&](const json& spec) {
    json claim = R"({"metadata": {"generateName": "a-"},
                     "spec": {"accessModes": ["ReadWriteOnce"],
                              "resources": {"requests": {"storage": "1Gi"}}}})"_json;
    claim["spec"].update(spec);
    return Post(Path("persistentvolumeclaims"), claim).at("/spec/storageClassName");
  };

  Eventually(201, [&] {  // kube-apiserver learns of the class by a watch
    JsonResponse result;
    result.status = class_of_claim(json::object()) == name ? 201 : 0;
    return result;
  });
  EXPECT_EQ(class_of_claim(json::object()), name);
  EXPECT_EQ(class_of_claim({{"storageClassName", "other"}}), "other");
  Delete(classes + '/' + name);
}

TEST_F(PersistentVolumeClaimTest, CreateAddsTheProtectionFinalizer) {
  EXPECT_EQ(CreateClaim().at("/metadata/finalizers"), json({"kubernetes.io/pvc-protection"}));
}

class EmptyTextTest : public ConformanceTest {};

TEST_F(EmptyTextTest, TheStatusOfAPodConditionInAFailurePolicyHasItsDefault) {
  json job = MakeObjectWithName("a");
  job["spec"] = R"({"podFailurePolicy": {"rules": [
      {"action": "Ignore", "onPodConditions": [{"type": "a", "status": ""}]}]},
    "template": {"spec": {"restartPolicy": "Never",
                          "containers": [{"name": "a", "image": "a"}]}}})"_json;

  EXPECT_EQ(Post(Path("batch/v1", "jobs"), job)
                .at("/spec/podFailurePolicy/rules/0/onPodConditions/0/status"),
            "True");
}

}  // namespace
}  // namespace kopp::conformance
