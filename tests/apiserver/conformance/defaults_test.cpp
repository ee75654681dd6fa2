#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// What a client may send at the least, and what the server makes of it; metadata is left out.
struct Defaults {
  std::string test{};
  std::string group_version{};
  std::string plural{};
  json sent{};
  json kept{};

  friend void PrintTo(const Defaults& defaults, std::ostream* out) { *out << defaults.sent; }
};

class DefaultsTest : public ConformanceTest, public ::testing::WithParamInterface<Defaults> {
 protected:
  /// The whole of what the server keeps, without what it does the same way for every kind.
  static json Kept(const Answer& made) {
    json kept = made.body;
    for (const char* field : {"kind", "apiVersion", "metadata"}) kept.erase(field);
    return kept;
  }
};

TEST_P(DefaultsTest, AreFilledIn) {
  const auto& [test, group_version, plural, sent, kept] = GetParam();
  json object = AConfigMap("a");
  object.update(sent);
  const Answer made =
      Post(group_version == "v1" ? Path(plural) : Path(group_version, plural), object);

  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(Kept(made), kept);
}

const Defaults all_defaults[] = {
    {"ConfigMap", "v1", "configmaps", R"({"data": {"a": "b"}, "binaryData": {"x": "AAE="}})"_json,
     R"({"data": {"a": "b"}, "binaryData": {"x": "AAE="}})"_json},
    {"SecretIsOpaque", "v1", "secrets", R"({})"_json, R"({"type": "Opaque"})"_json},
    {"SecretTakesStringsAsData", "v1", "secrets",
     R"({"stringData": {"a": "b", "c": "d"}, "data": {"a": "eg==", "e": "eg=="}})"_json,
     R"({"type": "Opaque", "data": {"a": "Yg==", "c": "ZA==", "e": "eg=="}})"_json},
    {"ServiceAccount", "v1", "serviceaccounts", R"({})"_json, R"({})"_json},
    {"EndpointsAreOfTcp", "v1", "endpoints",
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
    {"ServiceOfAnExternalName", "v1", "services",
     R"({"spec": {"type": "ExternalName", "externalName": "example.com"}})"_json,
     R"({
       "spec": {"type": "ExternalName", "externalName": "example.com", "sessionAffinity": "None"},
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
INSTANTIATE_TEST_SUITE_P(, DefaultsTest, ::testing::ValuesIn(all_defaults),
                         [](const auto& defaults) { return defaults.param.test; });

/// An Event is one object that two groups name differently.
class EventTest : public DefaultsTest {
 protected:
  std::string Core() { return Path("events"); }
  std::string New() { return Path("events.k8s.io/v1", "events"); }
  json Pod() { return {{"kind", "Pod"}, {"name", "p"}, {"namespace", ns()}}; }
};

TEST_F(EventTest, OfTheCoreGroupShowsTheOtherGroupsFields) {
  const Answer made = Post(Core(), {{"metadata", {{"name", "a"}}},
                                    {"involvedObject", Pod()},
                                    {"reason", "R"},
                                    {"message", "M"},
                                    {"type", "Normal"},
                                    {"count", 2},
                                    {"firstTimestamp", "2026-01-02T03:04:05Z"},
                                    {"lastTimestamp", "2026-01-02T03:04:06Z"},
                                    {"source", {{"component", "c"}, {"host", "h"}}}});

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(Kept(made), json({{"involvedObject", Pod()},
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

TEST_F(EventTest, OfTheCoreGroupIsSeenInTheNewOne) {
  Post(Core(), {{"metadata", {{"name", "a"}}},
                {"involvedObject", Pod()},
                {"message", "M"},
                {"count", 2},
                {"firstTimestamp", "2026-01-02T03:04:05Z"},
                {"lastTimestamp", "2026-01-02T03:04:06Z"},
                {"source", {{"component", "c"}, {"host", "h"}}}});
  const Answer seen = Get(New() + "/a");

  EXPECT_EQ(seen.str("/apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(Kept(seen), json({{"regarding", Pod()},
                              {"note", "M"},
                              {"eventTime", nullptr},
                              {"deprecatedCount", 2},
                              {"deprecatedFirstTimestamp", "2026-01-02T03:04:05Z"},
                              {"deprecatedLastTimestamp", "2026-01-02T03:04:06Z"},
                              {"deprecatedSource", {{"component", "c"}, {"host", "h"}}}}));
}

TEST_F(EventTest, OfTheNewGroupIsSeenInTheCoreOne) {
  const Answer made = Post(New(), {{"metadata", {{"name", "a"}}},
                                   {"regarding", Pod()},
                                   {"reason", "R"},
                                   {"note", "M"},
                                   {"type", "Normal"},
                                   {"action", "A"},
                                   {"eventTime", "2026-01-02T03:04:05.000006Z"},
                                   {"reportingController", "example.com/c"},
                                   {"reportingInstance", "i"}});
  const Answer seen = Get(Core() + "/a");

  EXPECT_EQ(seen.str("/apiVersion"), "v1");
  EXPECT_EQ(seen.str("/metadata/uid"), made.str("/metadata/uid"));
  EXPECT_EQ(Kept(seen), json({{"involvedObject", Pod()},
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

class ClaimTest : public ConformanceTest {
 protected:
  Answer Make() {
    return Post(Path("persistentvolumeclaims"),
                R"({"metadata": {"name": "a"},
                    "spec": {"accessModes": ["ReadWriteOnce"],
                             "resources": {"requests": {"storage": "1Gi"}}}})"_json);
  }
};

TEST_F(ClaimTest, SaysOnceWhatItIs) {
  const std::string claims = Path("persistentvolumeclaims");
  Make();

  const std::string one = Get(claims + "/a").text;
  EXPECT_EQ(one.find(R"("kind":"PersistentVolumeClaim")"),
            one.rfind(R"("kind":"PersistentVolumeClaim")"));
  EXPECT_EQ(Get(claims).at("/items/0/kind"), nullptr);
}

TEST_F(ClaimTest, IsProtectedByAFinalizer) {
  EXPECT_EQ(Make().at("/metadata/finalizers"), json({"kubernetes.io/pvc-protection"}));
}

}  // namespace
}  // namespace kopp::conformance
