#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Returns a schema whose spec and status have the integer "replicas" and the string "selector".
json SchemaWithReplicas() {
  const json integer{{"type", "integer"}};
  const json replicas_and_selector =
      ObjectSchema({{"replicas", integer}, {"selector", {{"type", "string"}}}});
  return ObjectSchema({{"spec", replicas_and_selector}, {"status", replicas_and_selector}});
}

class CustomResourceStatusTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    CreateCrd(SchemaWithReplicas(), {{"subresources", {{"status", json::object()}}}});
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  void SetUp() override {
    json widget = MakeWidget("w", {{"replicas", 1}});
    widget["status"]["replicas"] = 5;
    created_ = Post(Widgets(), widget);
  }
  std::string ObjectPath() { return Widgets() + "/w"; }

  JsonResponse created_{};
};

TEST_F(CustomResourceStatusTest, CreateIgnoresTheStatus) {
  EXPECT_EQ(created_.status, 201);
  EXPECT_FALSE(created_.body.contains("status"));
  EXPECT_EQ(created_.at("/metadata/generation"), 1);
}

TEST_F(CustomResourceStatusTest, PatchOfTheObjectIgnoresTheStatus) {
  const JsonResponse patched = MergePatch(ObjectPath(), {{"status", {{"replicas", 2}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, created_.body);
}

TEST_F(CustomResourceStatusTest, StatusPatchChangesOnlyTheStatus) {
  const JsonResponse patched =
      MergePatch(ObjectPath() + "/status",
                 {{"status", {{"replicas", 2}}},
                  {"spec", {{"replicas", 9}}},
                  {"metadata", {{"labels", {{"x", "1"}}}, {"finalizers", {"example.com/one"}}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/status"), json({{"replicas", 2}}));
  EXPECT_EQ(patched.at("/spec"), json({{"replicas", 1}}));
  EXPECT_EQ(patched.at("/metadata/labels"), nullptr);
  EXPECT_EQ(patched.at("/metadata/finalizers"), nullptr);
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
}

TEST_F(CustomResourceStatusTest, StatusUpdateChangesOnlyTheStatus) {
  created_.body["status"]["replicas"] = 3;
  created_.body["spec"]["replicas"] = 9;

  const JsonResponse put = Put(ObjectPath() + "/status", created_.body);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/status"), json({{"replicas", 3}}));
  EXPECT_EQ(put.at("/spec"), json({{"replicas", 1}}));
}

TEST_F(CustomResourceStatusTest, GetOfTheStatusReturnsTheWholeObject) {
  EXPECT_EQ(Get(ObjectPath() + "/status").body, created_.body);
}

TEST_F(CustomResourceStatusTest, StatusOfTheWrongTypeIsRejected) {
  const JsonResponse response =
      MergePatch(ObjectPath() + "/status", {{"status", {{"replicas", "x"}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueTypeInvalid status.replicas: Invalid value: \"string\": "
                          "replicas in body must be of type integer: \"string\""))
      << "field paths in the message are relative to the status";
}

TEST_F(CustomResourceStatusTest, OnlyASpecChangeIncreasesTheGeneration) {
  EXPECT_EQ(MergePatch(ObjectPath(), {{"spec", {{"replicas", 2}}}}).at("/metadata/generation"), 2);
  EXPECT_EQ(MergePatch(ObjectPath(), {{"spec", {{"replicas", 2}}}}).at("/metadata/generation"), 2);
  EXPECT_EQ(MergePatch(ObjectPath(), {{"metadata", {{"labels", {{"x", "1"}}}}}})
                .at("/metadata/generation"),
            2);
  EXPECT_EQ(
      MergePatch(ObjectPath(), {{"metadata", {{"generation", 77}}}}).at("/metadata/generation"), 2);
}

/// Fixture of tests of a CRD whose status has defaults.
class CustomResourceStatusDefaultsTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json status = ObjectSchema({{"phase", {{"type", "string"}, {"default", "Pending"}}}});
    status["default"] = json::object();
    CreateCrd(ObjectSchema({{"status", status}}), {{"subresources", {{"status", json::object()}}}});
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  static json WidgetWithStatus() {
    json widget = MakeWidget("w");
    widget["status"]["phase"] = "Ready";
    return widget;
  }
};

TEST_F(CustomResourceStatusDefaultsTest, CreateSetsTheDefaultsOfTheStatus) {
  const JsonResponse created = Post(Widgets(), WidgetWithStatus());

  EXPECT_EQ(created.at("/status"), json({{"phase", "Pending"}}));
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
  EXPECT_EQ(Get(Widgets() + "/w").body, created.body);
}

TEST_F(CustomResourceStatusDefaultsTest, DryRunOfACreateReturnsTheDefaultsOfTheStatus) {
  EXPECT_EQ(Post(Widgets() + "?dryRun=All", WidgetWithStatus()).str("/status/phase"), "Pending");
}

TEST_F(CustomResourceStatusDefaultsTest, RemovingTheStatusSetsItsDefaults) {
  Post(Widgets(), WidgetWithStatus());
  MergePatch(Widgets() + "/w/status", {{"status", {{"phase", "Ready"}}}});

  const JsonResponse patched = MergePatch(Widgets() + "/w/status", {{"status", nullptr}});

  EXPECT_EQ(patched.at("/status"), json({{"phase", "Pending"}}));
}

class CrdWithoutSubresourcesTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() { CreateCrd(SchemaWithReplicas()); }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_F(CrdWithoutSubresourcesTest, StatusIsAnOrdinaryFieldAndItsChangeIncreasesTheGeneration) {
  json widget = MakeWidget("w", {{"replicas", 1}});
  widget["status"]["replicas"] = 5;

  EXPECT_EQ(Post(Widgets(), widget).at("/status"), json({{"replicas", 5}}));
  const JsonResponse patched = MergePatch(Widgets() + "/w", {{"status", {{"replicas", 6}}}});
  EXPECT_EQ(patched.at("/status"), json({{"replicas", 6}}));
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

TEST_F(CrdWithoutSubresourcesTest, StatusPathIsNotFound) {
  Post(Widgets(), MakeWidget("w"));

  const JsonResponse response = Get(Widgets() + "/w/status");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), "widgets." + group() + " \"w\" not found");
}

TEST_F(CrdWithoutSubresourcesTest, ScalePathIsNotFound) {
  Post(Widgets(), MakeWidget("w"));

  EXPECT_EQ(Get(Widgets() + "/w/scale").status, 404);
}

class CustomResourceScaleTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    CreateCrd(SchemaWithReplicas(), {{"subresources",
                                      {{"status", json::object()},
                                       {"scale",
                                        {{"specReplicasPath", ".spec.replicas"},
                                         {"statusReplicasPath", ".status.replicas"},
                                         {"labelSelectorPath", ".status.selector"}}}}}});
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  void SetUp() override { created_ = Post(Widgets(), MakeWidget("w", {{"replicas", 2}})); }
  std::string ObjectPath() { return Widgets() + "/w"; }

  JsonResponse created_{};
};

TEST_F(CustomResourceScaleTest, ScaleIsReadFromTheConfiguredPaths) {
  const JsonResponse updated =
      MergePatch(ObjectPath() + "/status", {{"status", {{"replicas", 1}, {"selector", "a=b"}}}});

  EXPECT_EQ(Get(ObjectPath() + "/scale").body,
            json({{"kind", "Scale"},
                  {"apiVersion", "autoscaling/v1"},
                  {"metadata",
                   {{"name", "w"},
                    {"namespace", ns()},
                    {"uid", created_.at("/metadata/uid")},
                    {"resourceVersion", updated.resource_version()},
                    {"creationTimestamp", created_.at("/metadata/creationTimestamp")}}},
                  {"spec", {{"replicas", 2}}},
                  {"status", {{"replicas", 1}, {"selector", "a=b"}}}}));
}

TEST_F(CustomResourceScaleTest, MissingStatusReplicasAreReportedAsZero) {
  EXPECT_EQ(Get(ObjectPath() + "/scale").at("/status"), json({{"replicas", 0}}));
}

TEST_F(CustomResourceScaleTest, ScalePatchChangesTheReplicasOfTheObject) {
  const JsonResponse scaled = MergePatch(ObjectPath() + "/scale", {{"spec", {{"replicas", 5}}}});

  EXPECT_EQ(scaled.status, 200);
  EXPECT_EQ(scaled.at("/spec/replicas"), 5);
  const JsonResponse object = Get(ObjectPath());
  EXPECT_EQ(object.at("/spec/replicas"), 5);
  EXPECT_EQ(object.at("/metadata/generation"), 2);
  EXPECT_EQ(object.resource_version(), scaled.resource_version());
}

TEST_F(CustomResourceScaleTest, ScaleUpdateChecksTheResourceVersionOnlyIfSet) {
  json scale = Get(ObjectPath() + "/scale").body;
  scale["spec"]["replicas"] = 7;
  EXPECT_EQ(Put(ObjectPath() + "/scale", scale).at("/spec/replicas"), 7);

  EXPECT_EQ(Put(ObjectPath() + "/scale", scale).status, 409);
  scale["metadata"].erase("resourceVersion");
  EXPECT_EQ(Put(ObjectPath() + "/scale", scale).status, 200);
}

TEST_F(CustomResourceScaleTest, ScalePatchWithAStaleResourceVersionIsAConflict) {
  const JsonResponse response =
      MergePatch(ObjectPath() + "/scale",
                 {{"metadata", {{"resourceVersion", "1"}}}, {"spec", {{"replicas", 8}}}});

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.message(),
            "Operation cannot be fulfilled on widgets." + group() +
                " \"w\": the object has been modified; please apply your changes to the latest "
                "version and try again");
}

TEST_F(CustomResourceScaleTest, ScalePatchIgnoresTheStatus) {
  const JsonResponse scaled = MergePatch(ObjectPath() + "/scale", {{"status", {{"replicas", 9}}}});

  EXPECT_EQ(scaled.at("/status/replicas"), 0);
}

TEST_F(CustomResourceScaleTest, NegativeReplicasAreRejected) {
  const JsonResponse response = MergePatch(ObjectPath() + "/scale", {{"spec", {{"replicas", -1}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response), ElementsAre("FieldValueInvalid .spec.replicas: Invalid value: -1: "
                                            "should be a non-negative integer"));
}

TEST_F(CustomResourceScaleTest, ScaleOfAnObjectWithoutSpecReplicasIsAnInternalError) {
  Post(Widgets(), MakeWidget("none", json::object()));

  const JsonResponse response = Get(Widgets() + "/none/scale");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.reason(), "InternalError");
  EXPECT_EQ(response.message(),
            "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist");
}

TEST_F(CustomResourceScaleTest, ScaleOfAMissingObjectIsNotFound) {
  const JsonResponse response = Get(Widgets() + "/none/scale");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), "widgets." + group() + " \"none\" not found");
}

}  // namespace
}  // namespace kopp::conformance
