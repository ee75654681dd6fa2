#include "custom_resources.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Fixture of tests of a CRD with several versions: v1 and v2 are served, v2 is stored, v1beta1 is
/// deprecated, v3 is not served.
class CrdVersionsTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    const std::string group = UniqueGroup();
    json crd = MakeWidgetCrd(group, AnyObjectSchema());
    const json version = crd["spec"]["versions"][0];
    json& versions = crd["spec"]["versions"];
    versions[0]["storage"] = false;
    for (const std::string name : {"v2", "v1beta1", "v3"}) {
      versions.push_back(version);
      versions.back()["name"] = name;
      versions.back()["storage"] = name == "v2";
      versions.back()["served"] = name != "v3";
    }
    versions[2]["deprecated"] = true;
    CreateCrdInGroup(group, crd);
  }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_F(CrdVersionsTest, ObjectCanBeReadInEachServedVersion) {
  JsonResponse created = Post(Widgets("v1"), MakeWidget("w", {{"x", 1}}, "v1"));

  EXPECT_EQ(created.str("/apiVersion"), group() + "/v1");
  created.body["apiVersion"] = group() + "/v2";
  EXPECT_EQ(Get(Widgets("v2") + "/w").body, created.body);
}

TEST_F(CrdVersionsTest, ListHasTheVersionOfItsPath) {
  Post(Widgets("v1"), MakeWidget("w"));

  const JsonResponse list = Get(Widgets("v2"));

  EXPECT_EQ(list.str("/apiVersion"), group() + "/v2");
  EXPECT_EQ(list.str("/items/0/apiVersion"), group() + "/v2");
}

TEST_F(CrdVersionsTest, WatchEventHasTheVersionOfItsPath) {
  const auto watch = StartWatch(Widgets("v2") + "?watch=true");

  Post(Widgets("v1"), MakeWidget("w"));

  EXPECT_EQ(watch->NextEvent()["object"]["apiVersion"], group() + "/v2");
}

TEST_F(CrdVersionsTest, VersionThatIsNotServedIsNotFound) {
  const JsonResponse response = Get(Widgets("v3"));

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.text, "404 page not found\n");
}

TEST_F(CrdVersionsTest, StorageVersionIsListedInTheStatusOfTheCrd) {
  EXPECT_EQ(Get(CrdPath()).at("/status/storedVersions"), json({"v2"}));
}

TEST_F(CrdVersionsTest, RequestToADeprecatedVersionReturnsAWarning) {
  EXPECT_THAT(
      Get(Widgets("v1beta1")).warnings,
      ElementsAre(group() + "/v1beta1 Widget is deprecated; use " + group() + "/v2 Widget"));
  EXPECT_THAT(Get(Widgets("v1beta1") + "/none").warnings, SizeIs(1));
  EXPECT_THAT(Get(Widgets("v1")).warnings, IsEmpty());
}

TEST_F(CrdVersionsTest, ManagedFieldsKeepTheVersionThatEachManagerUsed) {
  Apply(Widgets("v1") + "/w", MakeWidget("w", {{"x", 1}}, "v1"), "one");
  const JsonResponse applied =
      Apply(Widgets("v2") + "/w", MakeWidget("w", {{"y", 1}}, "v2"), "two");

  EXPECT_EQ(applied.at("/spec"), json({{"x", 1}, {"y", 1}}));
  EXPECT_EQ(ManagedFields(applied),
            json({ManagedFieldsEntry("one", "Apply", group() + "/v1",
                                     R"({"f:spec": {".": {}, "f:x": {}}})"),
                  ManagedFieldsEntry("two", "Apply", group() + "/v2",
                                     R"({"f:spec": {".": {}, "f:y": {}}})")}));
}

TEST_F(CrdVersionsTest, ApplyConflictIsDetectedAcrossVersions) {
  Post(Widgets("v1"), MakeWidget("w", {{"y", 1}}));
  MergePatch(Widgets("v1") + "/w?fieldManager=writer", {{"spec", {{"x", 1}}}});

  const JsonResponse response = Apply(Widgets("v2") + "/w", MakeWidget("w", {{"x", 2}}, "v2"), "m");

  EXPECT_EQ(response.message(), "Apply failed with 1 conflict: conflict with \"writer\" using " +
                                    group() + "/v1: .spec.x");
}

class CrdVersionChangeTest : public CrdPerTest {};

TEST_F(CrdVersionChangeTest, FieldsThatTheStoredVersionDoesNotHaveAreDropped) {
  const std::string group = UniqueGroup();
  json crd =
      MakeWidgetCrd(group, ObjectSchema({{"spec", ObjectSchema({{"a", {{"type", "string"}}}})}}));
  json& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);
  versions[1]["name"] = "v2";
  versions[1]["storage"] = false;
  versions[1]["schema"]["openAPIV3Schema"] =
      ObjectSchema({{"spec", ObjectSchema({{"a", {{"type", "string"}}},
                                           {"extra", {{"type", "string"}, {"default", "d"}}}})}});
  CreateCrdInGroup(group, crd);
  const json spec{{"a", "x"}};

  const JsonResponse created =
      Post(Widgets("v2"), MakeWidget("w", {{"a", "x"}, {"extra", "mine"}}, "v2"));
  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/spec"), spec);
  for (const char* version : {"v1", "v2"})
    EXPECT_EQ(Get(Widgets(version) + "/w").at("/spec"), spec) << version;
  EXPECT_EQ(Get(Widgets("v2")).at("/items/0/spec"), spec);
  EXPECT_EQ(MergePatch(Widgets("v2") + "/w", {{"spec", {{"extra", "again"}}}}).at("/spec"), spec);
}

TEST_F(CrdVersionChangeTest, AWriteThroughAVersionDropsTheFieldsThatItDoesNotHave) {
  const std::string group = UniqueGroup();
  json crd =
      MakeWidgetCrd(group, ObjectSchema({{"spec", ObjectSchema({{"a", {{"type", "string"}}},
                                                                {"b", {{"type", "string"}}}})}}));
  json& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);
  versions[1]["name"] = "v2";
  versions[1]["storage"] = false;
  versions[1]["schema"]["openAPIV3Schema"] =
      ObjectSchema({{"spec", ObjectSchema({{"a", {{"type", "string"}}}})}});
  CreateCrdInGroup(group, crd);
  const json both{{"a", "x"}, {"b", "y"}};
  const json a_only{{"a", "x"}};
  for (const char* name : {"put", "patch", "label", "same", "apply"})
    Post(Widgets("v1"), MakeWidget(name, both));

  const JsonResponse read = Get(Widgets("v2") + "/put");
  EXPECT_EQ(read.at("/spec"), a_only);
  EXPECT_EQ(Get(Widgets("v2")).at("/items/0/spec"), a_only);
  EXPECT_EQ(Get(Widgets("v1") + "/put").at("/spec"), both);
  json changed = read.body;
  changed["metadata"]["labels"] = {{"l", "1"}};
  Put(Widgets("v2") + "/put", changed);
  EXPECT_EQ(Get(Widgets("v1") + "/put").at("/spec"), a_only);
  MergePatch(Widgets("v2") + "/patch", {{"spec", {{"a", "z"}}}});
  EXPECT_EQ(Get(Widgets("v1") + "/patch").at("/spec"), json({{"a", "z"}}));
  MergePatch(Widgets("v2") + "/label", {{"metadata", {{"labels", {{"l", "1"}}}}}});
  EXPECT_EQ(Get(Widgets("v1") + "/label").at("/spec"), a_only);
  MergePatch(Widgets("v2") + "/same", {{"spec", {{"a", "x"}}}});
  EXPECT_EQ(Get(Widgets("v1") + "/same").at("/spec"), a_only);
  Apply(Widgets("v2") + "/apply", MakeWidget("apply", {{"a", "z"}}, "v2"), "m", "&force=true");
  EXPECT_EQ(Get(Widgets("v1") + "/apply").at("/spec"), json({{"a", "z"}}));
}

TEST_F(CrdVersionChangeTest, VersionThatIsNoLongerServedIsNotFound) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  crd["spec"]["versions"].push_back(crd["spec"]["versions"][0]);
  crd["spec"]["versions"][1]["name"] = "v2";
  crd["spec"]["versions"][1]["storage"] = false;
  CreateCrdInGroup(group, crd);

  JsonPatch(CrdPath(),
            {{{"op", "replace"}, {"path", "/spec/versions/0/served"}, {"value", false}}});

  EXPECT_EQ(Eventually(404, [&] { return Get(Widgets("v1")); }).status, 404);
  EXPECT_EQ(Eventually(200, [&] { return Get(Widgets("v2")); }).status, 200);
}

TEST_F(CrdVersionChangeTest, StoredVersionsKeepAFormerStorageVersion) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  crd["spec"]["versions"].push_back(crd["spec"]["versions"][0]);
  crd["spec"]["versions"][1]["name"] = "v2";
  crd["spec"]["versions"][1]["storage"] = false;
  CreateCrdInGroup(group, crd);

  const JsonResponse changed = JsonPatch(
      CrdPath(), {{{"op", "replace"}, {"path", "/spec/versions/0/storage"}, {"value", false}},
                  {{"op", "replace"}, {"path", "/spec/versions/1/storage"}, {"value", true}}});

  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.at("/status/storedVersions"), json({"v1", "v2"}));
}

class ClusterScopedCrdTest : public CrdPerTest {
 protected:
  static void CreateClusterScopedCrd() {
    const std::string group = UniqueGroup();
    json crd = MakeWidgetCrd(group, AnyObjectSchema());
    crd["spec"]["scope"] = "Cluster";
    CreateCrdInGroup(group, crd);
  }
};

TEST_F(ClusterScopedCrdTest, NamespaceInTheBodyIsDropped) {
  CreateClusterScopedCrd();
  const std::string all = "/apis/" + group() + "/v1/widgets";
  json widget = MakeWidget("w");
  widget["metadata"]["namespace"] = "dropped";

  const JsonResponse created = Post(all, widget);

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/namespace"), nullptr);
  EXPECT_EQ(Get(all + "/w").body, created.body);
}

TEST_F(ClusterScopedCrdTest, NamespacedPathIsNotFound) {
  CreateClusterScopedCrd();

  EXPECT_EQ(Get(Widgets()).text, "404 page not found\n");
}

class CrdShortNameTest : public CrdPerTest {};

TEST_F(CrdShortNameTest, ShortNameIsAcceptedButIsNotAPath) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  crd["spec"]["names"]["shortNames"] = {"wd"};
  CreateCrdInGroup(group, crd);

  EXPECT_EQ(Get("/apis/" + group + "/v1/wd").status, 404);
  EXPECT_EQ(Get(CrdPath()).at("/status/acceptedNames/shortNames"), json({"wd"}));
}

}  // namespace
}  // namespace kopp::conformance
