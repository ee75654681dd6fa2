#include "custom_resources.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// v1 and v2 are served, v2 is stored, v1beta1 is deprecated, v3 is not served.
class CrdVersionsTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    const std::string group = UniqueGroup();
    json definition = ADefinition(group, Anything());
    const json base = definition["spec"]["versions"][0];
    json& versions = definition["spec"]["versions"];
    versions[0]["storage"] = false;
    for (const std::string name : {"v2", "v1beta1", "v3"}) {
      versions.push_back(base);
      versions.back()["name"] = name;
      versions.back()["storage"] = name == "v2";
      versions.back()["served"] = name != "v3";
    }
    versions[2]["deprecated"] = true;
    DefineIn(group, definition);
  }
  static void TearDownTestSuite() { Undefine(); }
};

TEST_F(CrdVersionsTest, AnObjectIsReadInEachVersionThatIsServed) {
  Answer made = Post(Widgets("v1"), AWidget("w", {{"x", 1}}, "v1"));

  EXPECT_EQ(made.str("/apiVersion"), group() + "/v1");
  made.body["apiVersion"] = group() + "/v2";
  EXPECT_EQ(Get(Widgets("v2") + "/w").body, made.body);
}

TEST_F(CrdVersionsTest, AListHasTheVersionOfItsPath) {
  Post(Widgets("v1"), AWidget("w"));

  const Answer list = Get(Widgets("v2"));

  EXPECT_EQ(list.str("/apiVersion"), group() + "/v2");
  EXPECT_EQ(list.str("/items/0/apiVersion"), group() + "/v2");
}

TEST_F(CrdVersionsTest, AWatchHasTheVersionOfItsPath) {
  const auto watch = StartWatch(Widgets("v2") + "?watch=true");

  Post(Widgets("v1"), AWidget("w"));

  EXPECT_EQ(watch->Next()["object"]["apiVersion"], group() + "/v2");
}

TEST_F(CrdVersionsTest, AVersionThatIsNotServedIsNotFound) {
  const Answer answer = Get(Widgets("v3"));

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.text, "404 page not found\n");
}

TEST_F(CrdVersionsTest, TheStoredVersionIsKeptInTheStatus) {
  EXPECT_EQ(Get(Definition()).at("/status/storedVersions"), json({"v2"}));
}

TEST_F(CrdVersionsTest, ADeprecatedVersionIsWarnedOf) {
  EXPECT_THAT(
      Get(Widgets("v1beta1")).warnings,
      ElementsAre(group() + "/v1beta1 Widget is deprecated; use " + group() + "/v2 Widget"));
  EXPECT_THAT(Get(Widgets("v1beta1") + "/none").warnings, SizeIs(1));
  EXPECT_THAT(Get(Widgets("v1")).warnings, IsEmpty());
}

TEST_F(CrdVersionsTest, EachManagerKeepsTheVersionThatItWroteIn) {
  Apply(Widgets("v1") + "/w", AWidget("w", {{"x", 1}}, "v1"), "one");
  const Answer applied = Apply(Widgets("v2") + "/w", AWidget("w", {{"y", 1}}, "v2"), "two");

  EXPECT_EQ(applied.at("/spec"), json({{"x", 1}, {"y", 1}}));
  EXPECT_EQ(ManagedFields(applied),
            json({Entry("one", "Apply", group() + "/v1", R"({"f:spec": {".": {}, "f:x": {}}})"),
                  Entry("two", "Apply", group() + "/v2", R"({"f:spec": {".": {}, "f:y": {}}})")}));
}

TEST_F(CrdVersionsTest, AConflictIsFoundAcrossVersions) {
  Post(Widgets("v1"), AWidget("w", {{"y", 1}}));
  MergePatch(Widgets("v1") + "/w?fieldManager=writer", {{"spec", {{"x", 1}}}});

  const Answer answer = Apply(Widgets("v2") + "/w", AWidget("w", {{"x", 2}}, "v2"), "m");

  EXPECT_EQ(answer.message(), "Apply failed with 1 conflict: conflict with \"writer\" using " +
                                  group() + "/v1: .spec.x");
}

class CrdVersionChangeTest : public DefinitionTest {};

TEST_F(CrdVersionChangeTest, AVersionCanCeaseToBeServed) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  definition["spec"]["versions"].push_back(definition["spec"]["versions"][0]);
  definition["spec"]["versions"][1]["name"] = "v2";
  definition["spec"]["versions"][1]["storage"] = false;
  DefineIn(group, definition);

  JsonPatch(Definition(),
            {{{"op", "replace"}, {"path", "/spec/versions/0/served"}, {"value", false}}});

  EXPECT_EQ(Eventually(404, [&] { return Get(Widgets("v1")); }).status, 404);
  EXPECT_EQ(Eventually(200, [&] { return Get(Widgets("v2")); }).status, 200);
}

TEST_F(CrdVersionChangeTest, EachVersionThatWasStoredIsRemembered) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  definition["spec"]["versions"].push_back(definition["spec"]["versions"][0]);
  definition["spec"]["versions"][1]["name"] = "v2";
  definition["spec"]["versions"][1]["storage"] = false;
  DefineIn(group, definition);

  const Answer changed = JsonPatch(
      Definition(), {{{"op", "replace"}, {"path", "/spec/versions/0/storage"}, {"value", false}},
                     {{"op", "replace"}, {"path", "/spec/versions/1/storage"}, {"value", true}}});

  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.at("/status/storedVersions"), json({"v1", "v2"}));
}

class ClusterScopeTest : public DefinitionTest {
 protected:
  static void DefineClusterWide() {
    const std::string group = UniqueGroup();
    json definition = ADefinition(group, Anything());
    definition["spec"]["scope"] = "Cluster";
    DefineIn(group, definition);
  }
};

TEST_F(ClusterScopeTest, ObjectsHaveNoNamespace) {
  DefineClusterWide();
  const std::string all = "/apis/" + group() + "/v1/widgets";
  json widget = AWidget("w");
  widget["metadata"]["namespace"] = "dropped";

  const Answer made = Post(all, widget);

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/namespace"), nullptr);
  EXPECT_EQ(Get(all + "/w").body, made.body);
}

TEST_F(ClusterScopeTest, NamespacesHaveNoPathForThem) {
  DefineClusterWide();

  EXPECT_EQ(Get(Widgets()).text, "404 page not found\n");
}

TEST_F(ClusterScopeTest, AShortNameIsNoPath) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  definition["spec"]["names"]["shortNames"] = {"wd"};
  DefineIn(group, definition);

  EXPECT_EQ(Get("/apis/" + group + "/v1/wd").status, 404);
  EXPECT_EQ(Get(Definition()).at("/status/acceptedNames/shortNames"), json({"wd"}));
}

}  // namespace
}  // namespace kopp::conformance
