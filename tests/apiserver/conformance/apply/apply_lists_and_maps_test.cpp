#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Fixture of tests of server-side apply of lists and maps in built-in kinds: list maps, sets, and
/// atomic fields.
class ApplyListAndMapTest : public ConformanceTest {
 protected:
  std::string ObjectPath() { return Path("apps/v1", "deployments") + "/d"; }

  JsonResponse ApplyContainers(const std::vector<json>& containers, const std::string& manager,
                               const std::string& extra_query = "") {
    return Apply(ObjectPath(),
                 {{"apiVersion", "apps/v1"},
                  {"kind", "Deployment"},
                  {"metadata", {{"name", "d"}}},
                  {"spec",
                   {{"selector", {{"matchLabels", {{"app", "d"}}}}},
                    {"template",
                     {{"metadata", {{"labels", {{"app", "d"}}}}},
                      {"spec", {{"containers", containers}}}}}}}},
                 manager, extra_query);
  }
  /// Applies only the fields in `spec`, to a Deployment that exists.
  JsonResponse ApplySpec(const json& spec, const std::string& manager) {
    return Apply(ObjectPath(),
                 {{"apiVersion", "apps/v1"},
                  {"kind", "Deployment"},
                  {"metadata", {{"name", "d"}}},
                  {"spec", spec}},
                 manager);
  }
  JsonResponse ApplyMetadata(json metadata, const std::string& manager) {
    metadata["name"] = "d";
    return Apply(ObjectPath(),
                 {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", metadata}},
                 manager);
  }
};

json MakeContainer(const std::string& name, const json& fields = json::object()) {
  json container{{"name", name}, {"image", "image-of-" + name}};
  container.update(fields);
  return container;
}

/// Returns a Deployment spec that holds only these containers of the Pod template.
json SpecWithContainers(const std::vector<json>& containers) {
  return {{"template", {{"spec", {{"containers", containers}}}}}};
}

std::vector<std::string> ContainerNames(const JsonResponse& deployment) {
  std::vector<std::string> names;
  for (const json& container : deployment.at("/spec/template/spec/containers")) {
    names.push_back(container["name"]);
  }
  return names;
}

TEST_F(ApplyListAndMapTest, ListMapItemsAreOwnedSeparatelyUnderTheirDefaultedKeys) {
  const JsonResponse created = ApplyContainers(
      {MakeContainer("a", {{"ports",
                            {{{"containerPort", 80}},
                             {{"containerPort", 80}, {"protocol", "UDP"}, {"name", "u"}}}},
                           {"env", {{{"name", "E"}, {"value", "1"}}}},
                           {"args", {"x", "y"}}})},
      "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(ManagedFields(created), json({ManagedFieldsEntry("m", "Apply", "apps/v1", R"({
                "f:spec": {
                  "f:selector": {},
                  "f:template": {
                    "f:metadata": {"f:labels": {"f:app": {}}},
                    "f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {
                      ".": {},
                      "f:args": {},
                      "f:env": {"k:{\"name\":\"E\"}": {".": {}, "f:name": {}, "f:value": {}}},
                      "f:image": {},
                      "f:name": {},
                      "f:ports": {
                        "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                          ".": {}, "f:containerPort": {}},
                        "k:{\"containerPort\":80,\"protocol\":\"UDP\"}": {
                          ".": {}, "f:containerPort": {}, "f:name": {}, "f:protocol": {}}}}}}}}})")}));
}

TEST_F(ApplyListAndMapTest, AnotherManagerCanAddAListMapItem) {
  ApplyContainers({MakeContainer("a"), MakeContainer("b")}, "one");

  const JsonResponse applied = ApplySpec(SpecWithContainers({MakeContainer("c")}), "two");

  EXPECT_THAT(ContainerNames(applied), ElementsAre("a", "b", "c"));
  EXPECT_EQ(ManagedFields(applied)[1],
            ManagedFieldsEntry("two", "Apply", "apps/v1",
                               R"({"f:spec": {"f:template": {"f:spec": {"f:containers": {
                        "k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}})"));
}

TEST_F(ApplyListAndMapTest, RemovingAnAppliedListItemKeepsTheItemsOfOtherManagers) {
  ApplyContainers({MakeContainer("a"), MakeContainer("b")}, "one");
  ApplySpec(SpecWithContainers({MakeContainer("c")}), "two");

  const JsonResponse applied = ApplyContainers({MakeContainer("a")}, "one");

  EXPECT_THAT(ContainerNames(applied), ElementsAre("a", "c"));
}

TEST_F(ApplyListAndMapTest, ListItemsAreOrderedAsInTheLastApply) {
  ApplyContainers({MakeContainer("a"), MakeContainer("b")}, "one");

  const JsonResponse applied = ApplyContainers({MakeContainer("b"), MakeContainer("a")}, "one");

  EXPECT_THAT(ContainerNames(applied), ElementsAre("b", "a"));
}

TEST_F(ApplyListAndMapTest, TwoManagersCanOwnFieldsOfOneListItem) {
  ApplyContainers({MakeContainer("a", {{"ports", {{{"containerPort", 80}}}}})}, "one");

  const JsonResponse applied = ApplySpec(
      SpecWithContainers({{{"name", "a"}, {"ports", {{{"containerPort", 80}, {"name", "http"}}}}}}),
      "two");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("/spec/template/spec/containers/0/ports"),
            json({{{"containerPort", 80}, {"name", "http"}, {"protocol", "TCP"}}}));
  EXPECT_EQ(applied.str("/spec/template/spec/containers/0/image"), "image-of-a");
}

TEST_F(ApplyListAndMapTest, ListItemThatItsManagerStopsApplyingRemainsIfAnotherManagerOwnsAField) {
  ApplyContainers({MakeContainer("a", {{"ports", {{{"containerPort", 80}}}}})}, "one");
  ApplySpec(
      SpecWithContainers({{{"name", "a"}, {"ports", {{{"containerPort", 80}, {"name", "http"}}}}}}),
      "two");

  const JsonResponse applied = ApplyContainers({MakeContainer("a")}, "one");

  EXPECT_EQ(applied.at("/spec/template/spec/containers/0/ports"),
            json({{{"containerPort", 80}, {"name", "http"}, {"protocol", "TCP"}}}));
}

TEST_F(ApplyListAndMapTest, ConflictInAListItemContainsTheKeyOfTheItem) {
  ApplyContainers({MakeContainer("a")}, "one");

  const JsonResponse response =
      ApplySpec(SpecWithContainers({{{"name", "a"}, {"image", "other"}}}), "two");

  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldManagerConflict .spec.template.spec.containers[name=\"a\"].image: "
                          "conflict with \"one\""));
}

TEST_F(ApplyListAndMapTest, AtomicListConflictsAsAWhole) {
  ApplyContainers({MakeContainer("a", {{"args", {"x", "y"}}})}, "one");

  const JsonResponse response =
      ApplySpec(SpecWithContainers({{{"name", "a"}, {"args", {"x"}}}}), "two");

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldManagerConflict .spec.template.spec.containers[name=\"a\"].args: "
                          "conflict with \"one\""));
}

TEST_F(ApplyListAndMapTest, AtomicStructConflictsAsAWhole) {
  ApplyContainers({MakeContainer("a")}, "one");

  const JsonResponse response = ApplySpec({{"selector", {{"matchLabels", {{"z", "1"}}}}}}, "two");

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldManagerConflict .spec.selector: conflict with \"one\""));
}

TEST_F(ApplyListAndMapTest, DuplicateListMapKeyIsRejected) {
  const JsonResponse response = ApplyContainers({MakeContainer("a"), MakeContainer("a")}, "m");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.message(),
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
            ".spec.template.spec.containers: duplicate entries "
            "for key [name=\"a\"]");
}

TEST_F(ApplyListAndMapTest, EachLabelAndAnnotationIsOwnedSeparately) {
  ApplyContainers({MakeContainer("a")}, "first");
  ApplyMetadata({{"labels", {{"x", "1"}}}, {"annotations", {{"n", "1"}}}}, "second");

  const JsonResponse applied = ApplyMetadata({{"labels", {{"y", "1"}}}}, "third");

  EXPECT_EQ(applied.at("/metadata/labels"), json({{"x", "1"}, {"y", "1"}}));
  EXPECT_EQ(ManagedFields(applied)[2],
            ManagedFieldsEntry("third", "Apply", "apps/v1",
                               R"({"f:metadata": {"f:labels": {"f:y": {}}}})"));
  EXPECT_EQ(ManagedFields(applied)[1],
            ManagedFieldsEntry(
                "second", "Apply", "apps/v1",
                R"({"f:metadata": {"f:annotations": {"f:n": {}}, "f:labels": {"f:x": {}}}})"));
}

TEST_F(ApplyListAndMapTest, FinalizersAreMergedAsASet) {
  ApplyContainers({MakeContainer("a")}, "first");
  ApplyMetadata({{"finalizers", {"example.com/x"}}}, "second");

  const JsonResponse applied = ApplyMetadata({{"finalizers", {"example.com/y"}}}, "third");

  EXPECT_EQ(applied.at("/metadata/finalizers"), json({"example.com/x", "example.com/y"}));
  EXPECT_EQ(ManagedFields(applied)[2],
            ManagedFieldsEntry("third", "Apply", "apps/v1",
                               R"({"f:metadata": {"f:finalizers": {"v:\"example.com/y\"": {}}}})"));
  EXPECT_EQ(ApplyMetadata(json::object(), "second").at("/metadata/finalizers"),
            json({"example.com/y"}));
}

TEST_F(ApplyListAndMapTest, DuplicateFinalizerIsRejected) {
  const JsonResponse response =
      ApplyMetadata({{"finalizers", {"example.com/x", "example.com/x"}}}, "m");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.message(),
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
            ".metadata.finalizers: duplicate entries for key "
            "[=\"example.com/x\"]");
}

TEST_F(ApplyListAndMapTest, OwnerReferencesAreKeyedByUidAndAtomic) {
  ApplyContainers({MakeContainer("a")}, "one");

  const JsonResponse applied = ApplyMetadata(
      {{"ownerReferences",
        {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "x"}, {"uid", "u-1"}}}}},
      "two");

  EXPECT_EQ(
      ManagedFields(applied)[1],
      ManagedFieldsEntry("two", "Apply", "apps/v1",
                         R"({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u-1\"}": {}}}})"));
}

TEST_F(ApplyListAndMapTest, ServicePortsAreKeyedByPortAndProtocolAndTheSelectorIsAtomic) {
  const JsonResponse created =
      Apply(Path("services") + "/s",
            {{"apiVersion", "v1"},
             {"kind", "Service"},
             {"metadata", {{"name", "s"}}},
             {"spec",
              {{"selector", {{"app", "x"}}},
               {"ports", {{{"port", 80}, {"name", "http"}, {"targetPort", 8080}}}}}}},
            "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(ManagedFields(created), json({ManagedFieldsEntry("m", "Apply", "v1",
                                                             R"({"f:spec": {
                              "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {
                                ".": {}, "f:name": {}, "f:port": {}, "f:targetPort": {}}},
                              "f:selector": {}}})")}));
}

TEST_F(ApplyListAndMapTest, CreateRecordsOwnershipOfDefaultedFields) {
  const JsonResponse created =
      Post(Path("apps/v1", "deployments") + "?fieldManager=m", MakeDeployment("d"));

  EXPECT_EQ(ManagedFields(created), json({ManagedFieldsEntry("m", "Update", "apps/v1", R"({
                "f:spec": {
                  "f:progressDeadlineSeconds": {},
                  "f:replicas": {},
                  "f:revisionHistoryLimit": {},
                  "f:selector": {},
                  "f:strategy": {
                    "f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}},
                    "f:type": {}},
                  "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:app": {}}},
                    "f:spec": {
                      "f:containers": {"k:{\"name\":\"nginx\"}": {
                        ".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {},
                        "f:resources": {}, "f:terminationMessagePath": {},
                        "f:terminationMessagePolicy": {}}},
                      "f:dnsPolicy": {},
                      "f:restartPolicy": {},
                      "f:schedulerName": {},
                      "f:securityContext": {},
                      "f:terminationGracePeriodSeconds": {}}}}})")}));
}

}  // namespace
}  // namespace kopp::conformance
