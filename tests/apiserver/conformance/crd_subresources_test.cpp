#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

json Numbers() {
  const json integer{{"type", "integer"}};
  const json part = AnObject({{"replicas", integer}, {"selector", {{"type", "string"}}}});
  return AnObject({{"spec", part}, {"status", part}});
}

class CustomStatusTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    Define(Numbers(), {{"subresources", {{"status", json::object()}}}});
  }
  static void TearDownTestSuite() { Undefine(); }

  void SetUp() override {
    json widget = AWidget("w", {{"replicas", 1}});
    widget["status"]["replicas"] = 5;
    made_ = Post(Widgets(), widget);
  }
  std::string Object() { return Widgets() + "/w"; }

  Answer made_{};
};

TEST_F(CustomStatusTest, IsNotTakenOnCreation) {
  EXPECT_EQ(made_.status, 201);
  EXPECT_FALSE(made_.body.contains("status"));
  EXPECT_EQ(made_.at("/metadata/generation"), 1);
}

TEST_F(CustomStatusTest, IsNotChangedThroughTheObject) {
  const Answer patched = MergePatch(Object(), {{"status", {{"replicas", 2}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, made_.body);
}

TEST_F(CustomStatusTest, IsAllThatChangesThroughItsOwnPath) {
  const Answer patched =
      MergePatch(Object() + "/status",
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

TEST_F(CustomStatusTest, CanBePut) {
  made_.body["status"]["replicas"] = 3;
  made_.body["spec"]["replicas"] = 9;

  const Answer put = Put(Object() + "/status", made_.body);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/status"), json({{"replicas", 3}}));
  EXPECT_EQ(put.at("/spec"), json({{"replicas", 1}}));
}

TEST_F(CustomStatusTest, CanBeRead) { EXPECT_EQ(Get(Object() + "/status").body, made_.body); }

TEST_F(CustomStatusTest, IsValidated) {
  const Answer answer = MergePatch(Object() + "/status", {{"status", {{"replicas", "x"}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueTypeInvalid status.replicas: Invalid value: \"string\": "
                          "replicas in body must be of type integer: \"string\""))
      << "what stands in the body is the status alone";
}

TEST_F(CustomStatusTest, TheGenerationCountsChangesOfAllElse) {
  EXPECT_EQ(MergePatch(Object(), {{"spec", {{"replicas", 2}}}}).at("/metadata/generation"), 2);
  EXPECT_EQ(MergePatch(Object(), {{"spec", {{"replicas", 2}}}}).at("/metadata/generation"), 2);
  EXPECT_EQ(
      MergePatch(Object(), {{"metadata", {{"labels", {{"x", "1"}}}}}}).at("/metadata/generation"),
      2);
  EXPECT_EQ(MergePatch(Object(), {{"metadata", {{"generation", 77}}}}).at("/metadata/generation"),
            2);
}

class CustomWithoutSubresourcesTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() { Define(Numbers()); }
  static void TearDownTestSuite() { Undefine(); }
};

TEST_F(CustomWithoutSubresourcesTest, TheStatusIsAFieldLikeAnyOther) {
  json widget = AWidget("w", {{"replicas", 1}});
  widget["status"]["replicas"] = 5;

  EXPECT_EQ(Post(Widgets(), widget).at("/status"), json({{"replicas", 5}}));
  const Answer patched = MergePatch(Widgets() + "/w", {{"status", {{"replicas", 6}}}});
  EXPECT_EQ(patched.at("/status"), json({{"replicas", 6}}));
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

TEST_F(CustomWithoutSubresourcesTest, TheStatusHasNoPath) {
  Post(Widgets(), AWidget("w"));

  const Answer answer = Get(Widgets() + "/w/status");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), "widgets." + group() + " \"w\" not found");
}

TEST_F(CustomWithoutSubresourcesTest, TheScaleHasNoPath) {
  Post(Widgets(), AWidget("w"));

  EXPECT_EQ(Get(Widgets() + "/w/scale").status, 404);
}

class CustomScaleTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    Define(Numbers(), {{"subresources",
                        {{"status", json::object()},
                         {"scale",
                          {{"specReplicasPath", ".spec.replicas"},
                           {"statusReplicasPath", ".status.replicas"},
                           {"labelSelectorPath", ".status.selector"}}}}}});
  }
  static void TearDownTestSuite() { Undefine(); }

  void SetUp() override { made_ = Post(Widgets(), AWidget("w", {{"replicas", 2}})); }
  std::string Object() { return Widgets() + "/w"; }

  Answer made_{};
};

TEST_F(CustomScaleTest, IsReadByThePaths) {
  const Answer updated =
      MergePatch(Object() + "/status", {{"status", {{"replicas", 1}, {"selector", "a=b"}}}});

  EXPECT_EQ(Get(Object() + "/scale").body,
            json({{"kind", "Scale"},
                  {"apiVersion", "autoscaling/v1"},
                  {"metadata",
                   {{"name", "w"},
                    {"namespace", ns()},
                    {"uid", made_.at("/metadata/uid")},
                    {"resourceVersion", updated.version()},
                    {"creationTimestamp", made_.at("/metadata/creationTimestamp")}}},
                  {"spec", {{"replicas", 2}}},
                  {"status", {{"replicas", 1}, {"selector", "a=b"}}}}));
}

TEST_F(CustomScaleTest, HasNoReplicasWhereTheStatusHasNone) {
  EXPECT_EQ(Get(Object() + "/scale").at("/status"), json({{"replicas", 0}}));
}

TEST_F(CustomScaleTest, ChangesTheObject) {
  const Answer scaled = MergePatch(Object() + "/scale", {{"spec", {{"replicas", 5}}}});

  EXPECT_EQ(scaled.status, 200);
  EXPECT_EQ(scaled.at("/spec/replicas"), 5);
  const Answer object = Get(Object());
  EXPECT_EQ(object.at("/spec/replicas"), 5);
  EXPECT_EQ(object.at("/metadata/generation"), 2);
  EXPECT_EQ(object.version(), scaled.version());
}

TEST_F(CustomScaleTest, CanBePutWithOrWithoutAVersion) {
  json scale = Get(Object() + "/scale").body;
  scale["spec"]["replicas"] = 7;
  EXPECT_EQ(Put(Object() + "/scale", scale).at("/spec/replicas"), 7);

  EXPECT_EQ(Put(Object() + "/scale", scale).status, 409);
  scale["metadata"].erase("resourceVersion");
  EXPECT_EQ(Put(Object() + "/scale", scale).status, 200);
}

TEST_F(CustomScaleTest, AnOldVersionIsAConflictOfTheObject) {
  const Answer answer = MergePatch(
      Object() + "/scale", {{"metadata", {{"resourceVersion", "1"}}}, {"spec", {{"replicas", 8}}}});

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.message(),
            "Operation cannot be fulfilled on widgets." + group() +
                " \"w\": the object has been modified; please apply your changes to the latest "
                "version and try again");
}

TEST_F(CustomScaleTest, ItsStatusIsNotChangedThroughIt) {
  const Answer scaled = MergePatch(Object() + "/scale", {{"status", {{"replicas", 9}}}});

  EXPECT_EQ(scaled.at("/status/replicas"), 0);
}

TEST_F(CustomScaleTest, IsNeverNegative) {
  const Answer answer = MergePatch(Object() + "/scale", {{"spec", {{"replicas", -1}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer), ElementsAre("FieldValueInvalid .spec.replicas: Invalid value: -1: "
                                          "should be a non-negative integer"));
}

TEST_F(CustomScaleTest, NeedsTheReplicasOfTheObject) {
  Post(Widgets(), AWidget("none", json::object()));

  const Answer answer = Get(Widgets() + "/none/scale");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.reason(), "InternalError");
  EXPECT_EQ(answer.message(),
            "Internal error occurred: the spec replicas field \".spec.replicas\" does not exist");
}

TEST_F(CustomScaleTest, OfWhatIsNotThereIsNotFound) {
  const Answer answer = Get(Widgets() + "/none/scale");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), "widgets." + group() + " \"none\" not found");
}

}  // namespace
}  // namespace kopp::conformance
