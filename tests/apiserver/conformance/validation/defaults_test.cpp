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

TEST_F(PersistentVolumeClaimTest, CreateAddsTheProtectionFinalizer) {
  EXPECT_EQ(CreateClaim().at("/metadata/finalizers"), json({"kubernetes.io/pvc-protection"}));
}

}  // namespace
}  // namespace kopp::conformance
