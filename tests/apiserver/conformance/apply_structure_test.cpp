#include "conformance.hpp"
#include "managed_fields.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Applies of a Deployment, a Service and metadata: lists by key, sets, what is replaced whole.
class ApplyStructureTest : public ConformanceTest {
 protected:
  std::string Object() { return Path("apps/v1", "deployments") + "/d"; }

  Answer ApplyContainers(const std::vector<json>& containers, const std::string& manager,
                         const std::string& more = "") {
    return Apply(Object(),
                 {{"apiVersion", "apps/v1"},
                  {"kind", "Deployment"},
                  {"metadata", {{"name", "d"}}},
                  {"spec",
                   {{"selector", {{"matchLabels", {{"app", "d"}}}}},
                    {"template",
                     {{"metadata", {{"labels", {{"app", "d"}}}}},
                      {"spec", {{"containers", containers}}}}}}}},
                 manager, more);
  }
  /// No more than `spec`, for who does not create it.
  Answer ApplySpec(const json& spec, const std::string& manager) {
    return Apply(Object(),
                 {{"apiVersion", "apps/v1"},
                  {"kind", "Deployment"},
                  {"metadata", {{"name", "d"}}},
                  {"spec", spec}},
                 manager);
  }
  Answer ApplyMetadata(json metadata, const std::string& manager) {
    metadata["name"] = "d";
    return Apply(Object(),
                 {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"metadata", metadata}},
                 manager);
  }
};

json AContainer(const std::string& name, const json& more = json::object()) {
  json container{{"name", name}, {"image", "image-of-" + name}};
  container.update(more);
  return container;
}

json InTemplate(const std::vector<json>& containers) {
  return {{"template", {{"spec", {{"containers", containers}}}}}};
}

std::vector<std::string> ContainersOf(const Answer& deployment) {
  std::vector<std::string> names;
  for (const json& container : deployment.at("/spec/template/spec/containers")) {
    names.push_back(container["name"]);
  }
  return names;
}

TEST_F(ApplyStructureTest, ListsByKeyAreManagedByItemAndFillInTheKeysDefault) {
  const Answer made = ApplyContainers(
      {AContainer("a", {{"ports",
                         {{{"containerPort", 80}},
                          {{"containerPort", 80}, {"protocol", "UDP"}, {"name", "u"}}}},
                        {"env", {{{"name", "E"}, {"value", "1"}}}},
                        {"args", {"x", "y"}}})},
      "m");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(ManagedFields(made), json({Entry("m", "Apply", "apps/v1", R"({
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

TEST_F(ApplyStructureTest, AnotherManagerCanAddAnItem) {
  ApplyContainers({AContainer("a"), AContainer("b")}, "one");

  const Answer applied = ApplySpec(InTemplate({AContainer("c")}), "two");

  EXPECT_THAT(ContainersOf(applied), ElementsAre("a", "b", "c"));
  EXPECT_EQ(ManagedFields(applied)[1],
            Entry("two", "Apply", "apps/v1",
                  R"({"f:spec": {"f:template": {"f:spec": {"f:containers": {
                        "k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}})"));
}

TEST_F(ApplyStructureTest, AnItemGivenUpIsRemovedAndTheOthersItemsStay) {
  ApplyContainers({AContainer("a"), AContainer("b")}, "one");
  ApplySpec(InTemplate({AContainer("c")}), "two");

  const Answer applied = ApplyContainers({AContainer("a")}, "one");

  EXPECT_THAT(ContainersOf(applied), ElementsAre("a", "c"));
}

TEST_F(ApplyStructureTest, ItemsStandInTheOrderOfWhoAppliesLast) {
  ApplyContainers({AContainer("a"), AContainer("b")}, "one");

  const Answer applied = ApplyContainers({AContainer("b"), AContainer("a")}, "one");

  EXPECT_THAT(ContainersOf(applied), ElementsAre("b", "a"));
}

TEST_F(ApplyStructureTest, TwoManagersCanFillInOneItem) {
  ApplyContainers({AContainer("a", {{"ports", {{{"containerPort", 80}}}}})}, "one");

  const Answer applied = ApplySpec(
      InTemplate({{{"name", "a"}, {"ports", {{{"containerPort", 80}, {"name", "http"}}}}}}), "two");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("/spec/template/spec/containers/0/ports"),
            json({{{"containerPort", 80}, {"name", "http"}, {"protocol", "TCP"}}}));
  EXPECT_EQ(applied.str("/spec/template/spec/containers/0/image"), "image-of-a");
}

TEST_F(ApplyStructureTest, AnItemThatAnotherHasAPartOfStaysWithThatPart) {
  ApplyContainers({AContainer("a", {{"ports", {{{"containerPort", 80}}}}})}, "one");
  ApplySpec(InTemplate({{{"name", "a"}, {"ports", {{{"containerPort", 80}, {"name", "http"}}}}}}),
            "two");

  const Answer applied = ApplyContainers({AContainer("a")}, "one");

  EXPECT_EQ(applied.at("/spec/template/spec/containers/0/ports"),
            json({{{"containerPort", 80}, {"name", "http"}, {"protocol", "TCP"}}}));
}

TEST_F(ApplyStructureTest, AConflictInAnItemNamesItsKey) {
  ApplyContainers({AContainer("a")}, "one");

  const Answer answer = ApplySpec(InTemplate({{{"name", "a"}, {"image", "other"}}}), "two");

  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldManagerConflict .spec.template.spec.containers[name=\"a\"].image: "
                          "conflict with \"one\""));
}

TEST_F(ApplyStructureTest, AnAtomicListIsOneField) {
  ApplyContainers({AContainer("a", {{"args", {"x", "y"}}})}, "one");

  const Answer answer = ApplySpec(InTemplate({{{"name", "a"}, {"args", {"x"}}}}), "two");

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldManagerConflict .spec.template.spec.containers[name=\"a\"].args: "
                          "conflict with \"one\""));
}

TEST_F(ApplyStructureTest, AnAtomicStructIsOneField) {
  ApplyContainers({AContainer("a")}, "one");

  const Answer answer = ApplySpec({{"selector", {{"matchLabels", {{"z", "1"}}}}}}, "two");

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldManagerConflict .spec.selector: conflict with \"one\""));
}

TEST_F(ApplyStructureTest, AKeyGivenTwiceIsRefused) {
  const Answer answer = ApplyContainers({AContainer("a"), AContainer("a")}, "m");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.message(),
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
            ".spec.template.spec.containers: duplicate entries "
            "for key [name=\"a\"]");
}

TEST_F(ApplyStructureTest, LabelsAndAnnotationsAreManagedOneByOne) {
  ApplyContainers({AContainer("a")}, "first");
  ApplyMetadata({{"labels", {{"x", "1"}}}, {"annotations", {{"n", "1"}}}}, "second");

  const Answer applied = ApplyMetadata({{"labels", {{"y", "1"}}}}, "third");

  EXPECT_EQ(applied.at("/metadata/labels"), json({{"x", "1"}, {"y", "1"}}));
  EXPECT_EQ(ManagedFields(applied)[2],
            Entry("third", "Apply", "apps/v1", R"({"f:metadata": {"f:labels": {"f:y": {}}}})"));
  EXPECT_EQ(ManagedFields(applied)[1],
            Entry("second", "Apply", "apps/v1",
                  R"({"f:metadata": {"f:annotations": {"f:n": {}}, "f:labels": {"f:x": {}}}})"));
}

TEST_F(ApplyStructureTest, FinalizersAreASet) {
  ApplyContainers({AContainer("a")}, "first");
  ApplyMetadata({{"finalizers", {"example.com/x"}}}, "second");

  const Answer applied = ApplyMetadata({{"finalizers", {"example.com/y"}}}, "third");

  EXPECT_EQ(applied.at("/metadata/finalizers"), json({"example.com/x", "example.com/y"}));
  EXPECT_EQ(ManagedFields(applied)[2],
            Entry("third", "Apply", "apps/v1",
                  R"({"f:metadata": {"f:finalizers": {"v:\"example.com/y\"": {}}}})"));
  EXPECT_EQ(ApplyMetadata(json::object(), "second").at("/metadata/finalizers"),
            json({"example.com/y"}));
}

TEST_F(ApplyStructureTest, AValueTwiceInASetIsRefused) {
  const Answer answer = ApplyMetadata({{"finalizers", {"example.com/x", "example.com/x"}}}, "m");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.message(),
            "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
            ".metadata.finalizers: duplicate entries for key "
            "[=\"example.com/x\"]");
}

TEST_F(ApplyStructureTest, OwnerReferencesAreByUidAndAtomic) {
  ApplyContainers({AContainer("a")}, "one");

  const Answer applied = ApplyMetadata(
      {{"ownerReferences",
        {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "x"}, {"uid", "u-1"}}}}},
      "two");

  EXPECT_EQ(ManagedFields(applied)[1],
            Entry("two", "Apply", "apps/v1",
                  R"({"f:metadata": {"f:ownerReferences": {"k:{\"uid\":\"u-1\"}": {}}}})"));
}

TEST_F(ApplyStructureTest, PortsOfAServiceHaveTwoKeysAndItsSelectorIsAtomic) {
  const Answer made =
      Apply(Path("services") + "/s",
            {{"apiVersion", "v1"},
             {"kind", "Service"},
             {"metadata", {{"name", "s"}}},
             {"spec",
              {{"selector", {{"app", "x"}}},
               {"ports", {{{"port", 80}, {"name", "http"}, {"targetPort", 8080}}}}}}},
            "m");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(ManagedFields(made), json({Entry("m", "Apply", "v1",
                                             R"({"f:spec": {
                              "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {
                                ".": {}, "f:name": {}, "f:port": {}, "f:targetPort": {}}},
                              "f:selector": {}}})")}));
}

TEST_F(ApplyStructureTest, ACreatorHasTheDefaultsToo) {
  const Answer made = Post(Path("apps/v1", "deployments") + "?fieldManager=m", ADeployment("d"));

  EXPECT_EQ(ManagedFields(made), json({Entry("m", "Update", "apps/v1", R"({
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
